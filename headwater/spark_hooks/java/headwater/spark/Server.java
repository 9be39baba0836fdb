package headwater.spark;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import org.slf4j.LoggerFactory;

/** The server that takes the events. It is asked for a connection before an event is built. */
final class Server {
  private static final int CONNECT_MILLIS_MAX = 1_000;
  private static final long TRUSTED_NANOS = 10_000_000_000L;

  private final String host;
  private final int port;
  private boolean isReachable = true;
  private long trustedUntil = System.nanoTime();

  Server(URI place) {
    int usual = "https".equals(place.getScheme()) ? 443 : 80;
    host = place.getHost();
    port = place.getPort() >= 0 ? place.getPort() : usual;
  }

  /**
   * Returns whether the server takes connections; true for a transport without an address.
   *
   * <p>A refusal arrives at once, so each event asks again. Silence costs a second, so its answer
   * holds for ten.
   */
  synchronized boolean isReachable() {
    if (host == null || System.nanoTime() - trustedUntil < 0) {
      return isReachable;
    }
    boolean wasReachable = isReachable;
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(host, port), CONNECT_MILLIS_MAX);
      isReachable = true;
      trustedUntil = System.nanoTime() + TRUSTED_NANOS;
    } catch (SocketTimeoutException silence) {
      isReachable = false;
      trustedUntil = System.nanoTime() + TRUSTED_NANOS;
    } catch (IOException refusal) {
      isReachable = false;
    }
    if (wasReachable && !isReachable) {
      LoggerFactory.getLogger("headwater")
          .warn("Headwater at {}:{} can not be reached: no lineage until it can", host, port);
    }
    return isReachable;
  }
}
