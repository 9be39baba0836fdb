package headwater.spark;

import io.openlineage.client.circuitBreaker.CircuitBreaker;
import io.openlineage.client.circuitBreaker.CircuitBreakerState;
import java.util.concurrent.Callable;

/** A breaker that lets through what another one lets through, while the server is reachable. */
final class ReachableBreaker implements CircuitBreaker {
  private final CircuitBreaker inner;
  private final Server server;

  ReachableBreaker(CircuitBreaker inner, Server server) {
    this.inner = inner;
    this.server = server;
  }

  @Override
  public CircuitBreakerState currentState() {
    return inner.currentState();
  }

  @Override
  public <T> T run(Callable<T> callable) {
    return server.isReachable() ? inner.run(callable) : null;
  }

  @Override
  public void close() {
    inner.close();
  }

  @Override
  public int getCheckIntervalMillis() {
    return inner.getCheckIntervalMillis();
  }
}
