package headwater;

import io.openlineage.client.circuitBreaker.CircuitBreaker;
import io.openlineage.client.circuitBreaker.CircuitBreakerState;
import io.openlineage.spark.agent.OpenLineageSparkListener;
import io.openlineage.spark.agent.lifecycle.ExecutionContext;
import java.io.IOException;
import java.lang.reflect.Field;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.JobFailed;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart;
import org.slf4j.LoggerFactory;
import scala.collection.Seq;
import scala.reflect.ClassTag$;

/**
 * Reports the failures that the OpenLineage listener does not, and spares it events that nobody would take.
 *
 * That listener looks at the end of the first Spark job of a query only. With adaptive execution every shuffle is
 * a job of its own, so a query that fails in a later job, or when its output is committed, goes out as COMPLETE.
 * This listener stands behind it on the same queue, keeps each query's context while it runs, and when Spark says
 * that the query ended in an error makes that context send the FAIL it owes: same run, same job, same datasets.
 *
 * It also stands before whatever that listener does for a query: while nobody takes connections where it sends to,
 * no event is put together, which is nearly all that an event costs. What can be sent is sent as without this.
 *
 * It is compiled inside the driver by Janino, the compiler Spark uses for its own queries, so no jar is needed.
 * Janino knows no type arguments here: hence the casts. It throws nothing, whatever happens.
 */
public class FailureListener extends SparkListener {
    private final Object lineage;
    private final Map registry;
    private final String url;
    private final Map contexts = new HashMap();
    private boolean sparing = false;

    private FailureListener(Object lineage, String url) throws Exception {
        this.lineage = lineage;
        this.registry = (Map) field("sparkSqlExecutionRegistry").get(lineage);
        this.url = url;
    }

    private static Field field(String name) throws Exception {
        Field field = OpenLineageSparkListener.class.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    /** Adds itself behind the OpenLineage listener of this context; says why when it can not. */
    public static String install(SparkContext spark) throws Exception {
        Seq found = spark.listenerBus().findListenersByClass(ClassTag$.MODULE$.apply(OpenLineageSparkListener.class));
        if (found.isEmpty()) {
            return "the OpenLineage listener is not running";
        }
        Seq ours = spark.listenerBus().findListenersByClass(ClassTag$.MODULE$.apply(FailureListener.class));
        if (ours.isEmpty()) {
            String url = spark.conf().get("spark.openlineage.transport.url", "");
            spark.addSparkListener(new FailureListener(found.head(), url));
        }
        return "";
    }

    public void onOtherEvent(SparkListenerEvent event) {
        try {
            if (event instanceof SparkListenerSQLExecutionStart) {
                Long id = Long.valueOf(((SparkListenerSQLExecutionStart) event).executionId());
                contexts.put(id, registry.get(id));
                spare();
            } else if (event instanceof SparkListenerSQLExecutionEnd) {
                end((SparkListenerSQLExecutionEnd) event);
            }
        } catch (Throwable ignored) {
            // Lineage is never worth a job.
        }
    }

    /** On the listener's own thread, and at the first query: by then it has made the breaker it goes on with. */
    private void spare() throws Exception {
        if (!sparing) {
            sparing = true;
            URI place = URI.create(url);
            if (place.getHost() != null) {
                Field breaker = field("circuitBreaker");
                breaker.set(lineage, new WhileReachable((CircuitBreaker) breaker.get(lineage), place));
            }
        }
    }

    private void end(SparkListenerSQLExecutionEnd event) throws Exception {
        ExecutionContext context = (ExecutionContext) contexts.remove(Long.valueOf(event.executionId()));
        if (context == null || event.errorMessage().isEmpty() || "".equals(event.errorMessage().get())) {
            return;
        }
        Field finished = context.getClass().getDeclaredField("finished");
        finished.setAccessible(true);
        ((AtomicBoolean) finished.get(context)).set(false);
        Optional job = context.getActiveJobId();
        int jobId = job.isPresent() ? ((Integer) job.get()).intValue() : -1;
        context.end(new SparkListenerJobEnd(jobId, event.time(), new JobFailed(cause(event))));
    }

    private static Exception cause(SparkListenerSQLExecutionEnd event) {
        if (event.executionFailure().isDefined()) {
            Throwable failure = (Throwable) event.executionFailure().get();
            return failure instanceof Exception ? (Exception) failure : new RuntimeException(failure);
        }
        return new RuntimeException((String) event.errorMessage().get());
    }

    /** Lets through what another breaker lets through, while connections are taken at a place. */
    public static class WhileReachable implements CircuitBreaker {
        private static final int CONNECT_MILLIS_MAX = 1000;
        private static final long TRUSTED_NANOS = 10000000000L;
        private final CircuitBreaker inner;
        private final String host;
        private final int port;
        private boolean reachable = true;
        private long trustedUntil = System.nanoTime();

        public WhileReachable(CircuitBreaker inner, URI place) {
            this.inner = inner;
            this.host = place.getHost();
            this.port = place.getPort() >= 0 ? place.getPort() : "https".equals(place.getScheme()) ? 443 : 80;
        }

        public CircuitBreakerState currentState() {
            return inner.currentState();
        }

        public Object run(Callable callable) {
            return reached() ? inner.run(callable) : null;
        }

        public void close() {
            inner.close();
        }

        public int getCheckIntervalMillis() {
            return inner.getCheckIntervalMillis();
        }

        /** A refusal is had at once, so each event asks again; silence costs a second, so it is believed for a while. */
        private synchronized boolean reached() {
            long now = System.nanoTime();
            if (now - trustedUntil < 0) {
                return reachable;
            }
            boolean before = reachable;
            Socket socket = new Socket();
            try {
                socket.connect(new InetSocketAddress(host, port), CONNECT_MILLIS_MAX);
                reachable = true;
                trustedUntil = System.nanoTime() + TRUSTED_NANOS;
            } catch (SocketTimeoutException silence) {
                reachable = false;
                trustedUntil = System.nanoTime() + TRUSTED_NANOS;
            } catch (IOException refusal) {
                reachable = false;
            }
            try {
                socket.close();
            } catch (IOException ignored) {
                // It was never open, or is closed.
            }
            if (before && !reachable) {
                String said = "Headwater at " + host + ":" + port + " can not be reached: no lineage until it can";
                LoggerFactory.getLogger("headwater").warn(said);
            }
            return reachable;
        }
    }
}
