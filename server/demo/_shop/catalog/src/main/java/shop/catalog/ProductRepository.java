package shop.catalog;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Reads products from PostgreSQL. */
final class ProductRepository {
    private final Connection database;

    ProductRepository(Connection database) {
        this.database = database;
    }

    List<String> find(String category) throws SQLException {
        try (var statement = database.prepareStatement("SELECT id FROM products WHERE category = ? FOR SHARE")) {
            statement.setString(1, category);
            List<String> ids = new ArrayList<>();
            ResultSet rows = statement.executeQuery();
            while (rows.next()) {
                ids.add(rows.getString(1));
            }
            return ids;
        }
    }

    /** The variants of a product, all with one statement. */
    List<String> variants(String product) throws SQLException {
        try (var statement = database.prepareStatement("SELECT sku FROM product_variants WHERE product_id = ?")) {
            statement.setString(1, product);
            List<String> skus = new ArrayList<>();
            ResultSet rows = statement.executeQuery();
            while (rows.next()) {
                skus.add(rows.getString(1));
            }
            return skus;
        }
    }

    /** One variant of a product. */
    String variant(String product, int number) throws SQLException {
        try (var statement = database.prepareStatement("SELECT sku FROM product_variants WHERE product_id = ? AND number = ?")) {
            statement.setString(1, product);
            statement.setInt(2, number);
            ResultSet row = statement.executeQuery();
            return row.next() ? row.getString(1) : null;
        }
    }
}
