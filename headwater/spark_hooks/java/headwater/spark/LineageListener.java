package headwater.spark;

import io.openlineage.client.OpenLineage;
import io.openlineage.client.circuitBreaker.CircuitBreaker;
import io.openlineage.spark.agent.EventEmitter;
import io.openlineage.spark.agent.OpenLineageSparkListener;
import io.openlineage.spark.agent.Versions;
import io.openlineage.spark.agent.lifecycle.ContextFactory;
import io.openlineage.spark.agent.lifecycle.ExecutionContext;
import java.lang.reflect.Field;
import java.net.URI;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Collections;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.scheduler.JobFailed;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd;
import scala.Option;

/** The OpenLineage listener of an application, and the events that it leaves out. */
final class LineageListener {
  final OpenLineageSparkListener listener;
  private final Server server;

  LineageListener(Object listener, String url) {
    this.listener = (OpenLineageSparkListener) listener;
    this.server = new Server(URI.create(url));
  }

  /** Makes the listener build no events while its server takes no connections. */
  void guard() throws Exception {
    CircuitBreaker breaker = breaker();
    if (breaker != null && !(breaker instanceof ReachableBreaker)) {
      field(listener, "circuitBreaker").set(listener, new ReachableBreaker(breaker, server));
    }
  }

  /**
   * Sends the FAIL of a query that ended with an error: same run, job and datasets.
   *
   * <p>The OpenLineage listener looks at the end of the first Spark job of a query only. With
   * adaptive execution every shuffle is a job of its own. A statement that ends before the listener
   * reads its start has no context yet.
   */
  void failQuery(SparkListenerSQLExecutionEnd event) throws Exception {
    Exception cause = causeOf(event);
    if (cause == null) {
      return;
    }
    Map<Long, ExecutionContext> contexts = contexts();
    if (!contexts.containsKey(event.executionId())) {
      factory()
          .createSparkSQLExecutionContext(event)
          .ifPresent(created -> contexts.put(event.executionId(), created));
    }
    ExecutionContext context = contexts.get(event.executionId());
    if (context == null) {
      return;
    }
    ((AtomicBoolean) field(context, "finished").get(context)).set(false);
    int job = context.getActiveJobId().orElse(-1);
    SparkListenerJobEnd end = new SparkListenerJobEnd(job, event.time(), new JobFailed(cause));
    breaker()
        .run(
            () -> {
              context.end(end);
              return null;
            });
  }

  /** Sends the end of the application's run. The listener may be closed, so this sends itself. */
  void endApplication(String state, DriverError error) throws Exception {
    if (!server.isReachable()) {
      return;
    }
    EventEmitter closed = factory().openLineageEventEmitter;
    String job = closed.getApplicationJobName();
    OpenLineage facts = new OpenLineage(Versions.OPEN_LINEAGE_PRODUCER_URI);
    OpenLineage.RunFacets facets =
        facts
            .newRunFacetsBuilder()
            .errorMessage(
                facts.newErrorMessageRunFacet(error.message, error.language, error.stackTrace))
            .build();
    OpenLineage.Run run =
        facts.newRunBuilder().runId(closed.getApplicationRunId()).facets(facets).build();
    OpenLineage.RunEvent event =
        facts
            .newRunEventBuilder()
            .eventTime(ZonedDateTime.now(ZoneOffset.UTC))
            .eventType(OpenLineage.RunEvent.EventType.valueOf(state))
            .run(run)
            .job(facts.newJobBuilder().namespace(closed.getJobNamespace()).name(job).build())
            .inputs(Collections.emptyList())
            .outputs(Collections.emptyList())
            .build();
    EventEmitter emitter = new EventEmitter(factory().getConfig(), job);
    emitter.emit(event);
    emitter.close();
  }

  /** Returns the error of a query, or null. Spark before 3.4 has no message. */
  private static Exception causeOf(SparkListenerSQLExecutionEnd event) {
    Option<Throwable> failure = event.executionFailure();
    if (failure != null && failure.isDefined()) {
      Throwable cause = failure.get();
      return cause instanceof Exception ? (Exception) cause : new RuntimeException(cause);
    }
    Option<String> message = event.errorMessage();
    return message.isEmpty() || message.get().isEmpty() ? null : new RuntimeException(message.get());
  }

  private CircuitBreaker breaker() throws Exception {
    return (CircuitBreaker) field(listener, "circuitBreaker").get(listener);
  }

  private ContextFactory factory() throws Exception {
    return (ContextFactory) field(listener, "contextFactory").get(listener);
  }

  @SuppressWarnings("unchecked")
  private Map<Long, ExecutionContext> contexts() throws Exception {
    return (Map<Long, ExecutionContext>) field(listener, "sparkSqlExecutionRegistry").get(listener);
  }

  private static Field field(Object owner, String name) throws Exception {
    Field field = owner.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return field;
  }
}
