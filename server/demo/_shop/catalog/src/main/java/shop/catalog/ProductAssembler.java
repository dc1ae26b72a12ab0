package shop.catalog;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Puts a product together from its parts. */
final class ProductAssembler {
    private final ProductRepository products;

    ProductAssembler(ProductRepository products) {
        this.products = products;
    }

    List<String> loadVariants(String product, int count) throws SQLException {
        List<String> skus = new ArrayList<>();
        for (int number = 0; number < count; number++) {
            skus.add(products.variant(product, number));
        }
        return skus;
    }
}
