package shop.inventory;

import java.util.logging.Logger;

/** Compares what was counted with what was booked. */
final class StockLedger {
    private static final Logger LOG = Logger.getLogger("shop.inventory.ledger");

    String compare(String sku, int counted, int booked, long behindMillis) {
        LOG.warning("stock ledger drift for " + sku + ": counted " + counted + ", booked " + booked + ", replica behind by " + behindMillis + " ms");
        return sku;
    }
}
