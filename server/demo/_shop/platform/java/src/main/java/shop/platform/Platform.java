package shop.platform;

import java.io.IOException;
import java.util.List;
import java.util.Map;

/** What the services share. */
final class Memory {
    static byte[] grow(int size) {
        return new byte[size];
    }
}

final class Upstream {
    static String pick(List<String> healthy, String region) throws IOException {
        if (healthy.isEmpty()) throw new IOException("no healthy upstream in " + region);
        return healthy.get(0);
    }
}

final class Experiment {
    static Runnable run(String flag, Map<String, Runnable> plans) {
        if (!plans.containsKey(flag)) throw new IllegalStateException(flag + ": the request has no plan");
        return plans.get(flag);
    }
}

final class Cache {
    static byte[] read(String key, byte[] entry) throws IOException {
        if (entry[0] != 2) throw new IOException("cannot decode the entry for " + key);
        return entry;
    }
}

final class Handler {
    static Object prepare(Map<String, Object> request) {
        if (request.get("totals") == null) throw new NullPointerException("the field totals is missing");
        return request.get("totals");
    }
}

final class Connection {
    static void handshake(long expires, String dependency) throws IOException {
        if (expires < System.currentTimeMillis()) throw new IOException("certificate of " + dependency + " has expired");
    }

    static byte[] read(java.net.Socket socket, String dependency) throws IOException {
        if (socket.isClosed()) throw new IOException("connection to " + dependency + " was reset");
        return socket.getInputStream().readAllBytes();
    }
}
