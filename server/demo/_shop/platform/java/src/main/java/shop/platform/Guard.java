package shop.platform;

import java.util.concurrent.Callable;

/** Runs the work of a request. */
public final class Guard {
    private Guard() {}

    public static Object run(Callable<Object> work) throws Exception {
        return timed(work);
    }

    private static Object timed(Callable<Object> work) throws Exception {
        long began = System.nanoTime();
        try {
            return attempt(work);
        } finally {
            System.getLogger("shop.platform").log(System.Logger.Level.DEBUG, "took {0} ns", System.nanoTime() - began);
        }
    }

    private static Object attempt(Callable<Object> work) throws Exception {
        return work.call();
    }
}
