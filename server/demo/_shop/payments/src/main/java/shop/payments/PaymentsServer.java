package shop.payments;

import shop.platform.Guard;

/** Answers the requests of the service payments. */
final class PaymentsServer {
    private final PayfastClient payfast;

    PaymentsServer(PayfastClient payfast) {
        this.payfast = payfast;
    }

    Object route(Request request) throws Exception {
        return payfast.charge(request.text("order"), Long.parseLong(request.text("cents")));
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
