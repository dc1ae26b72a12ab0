package shop.inventory;

import shop.platform.Guard;

/** Answers the requests of the service inventory. */
final class InventoryServer {
    private final StockLedger ledger;

    InventoryServer(StockLedger ledger) {
        this.ledger = ledger;
    }

    Object route(Request request) throws Exception {
        return ledger.compare(request.text("sku"), 0, 0, 0);
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
