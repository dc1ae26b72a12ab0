package shop.catalog;

import shop.platform.Guard;

/** Answers the requests of the service catalog. */
final class CatalogServer {
    private final ProductRepository products;

    CatalogServer(ProductRepository products) {
        this.products = products;
    }

    Object route(Request request) throws Exception {
        return products.find(request.text("category"));
    }

    Object handle(Request request) throws Exception {
        return Guard.run(() -> route(request));
    }

    void serve(Iterable<Request> requests) throws Exception {
        for (Request request : requests) {
            request.reply(handle(request));
        }
    }

    /** A request that is under way. */
    interface Request {
        String text(String name);

        void reply(Object answer);
    }
}
