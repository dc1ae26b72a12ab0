package shop.payments;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;

/** The provider of payments. */
final class PayfastClient {
    private static final Duration TIMEOUT = Duration.ofSeconds(3);
    private static final int ATTEMPTS = 3;

    private final HttpClient http;

    PayfastClient(HttpClient http) {
        this.http = http;
    }

    String charge(String order, long cents) throws IOException, InterruptedException {
        IOException last = null;
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            try {
                return post("{\"order\":\"" + order + "\",\"cents\":" + cents + "}");
            } catch (SocketTimeoutException e) {
                last = e;
            }
        }
        throw last;
    }

    private String post(String body) throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(URI.create("https://api.payfast.example/v1/charges"))
            .timeout(TIMEOUT).POST(HttpRequest.BodyPublishers.ofString(body)).build();
        try {
            return http.send(request, HttpResponse.BodyHandlers.ofString()).body();
        } catch (HttpTimeoutException e) {
            throw new SocketTimeoutException("timeout: no answer from api.payfast.example within " + TIMEOUT.toMillis() + " ms");
        }
    }
}
