package headwater.spark;

import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkContext$;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerInterface;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart;
import org.slf4j.LoggerFactory;
import scala.Option;

/**
 * Reports the failures that the OpenLineage listener reports as successes.
 *
 * <p>Spark creates it from {@code spark.extraListeners}. It stands before the OpenLineage listener
 * on the same queue. A query that Spark ends with an error gets a FAIL, whichever of its Spark jobs
 * failed, and also when none had started. The application gets a FAIL when its driver fails
 * ({@link DriverFailure}). No method throws: lineage is never worth a job.
 */
public class FailureListener extends SparkListener {
  private static final String LINEAGE_LISTENER =
      "io.openlineage.spark.agent.OpenLineageSparkListener";
  private static final long REPORT_MILLIS_MAX = 8_000;
  private static volatile FailureListener newest;

  private final String url;
  private volatile LineageListener lineage;
  private volatile SparkContext context;
  private boolean isAhead;

  /** Creates the listener of one application. Spark calls this constructor. */
  public FailureListener(SparkConf conf) {
    url = conf.get("spark.openlineage.transport.url", "");
    newest = this;
    try {
      DriverFailure.watch();
    } catch (Throwable ignored) {
      // Another Spark: failures of queries are still reported.
    }
  }

  /** Adds the listener to a running application, unless it has one. Returns a problem, or "". */
  public static String install(SparkContext spark) {
    for (SparkListenerInterface one : spark.listenerBus().listeners()) {
      if (one.getClass().getName().equals(FailureListener.class.getName())) {
        return "";
      }
    }
    FailureListener listener = new FailureListener(spark.conf());
    listener.attach(spark);
    if (listener.lineage == null) {
      return "the OpenLineage listener is not running";
    }
    spark.addSparkListener(listener);
    return "";
  }

  /** Reports the end of the newest application: FAIL or ABORT, with the reason. */
  static void reportApplication(String state, DriverError error) {
    FailureListener listener = newest;
    if (listener == null) {
      return;
    }
    // On a thread of its own, so that a Headwater that never answers costs a bounded time.
    Thread sender = new Thread(() -> listener.sendEnd(state, error), "headwater-driver-failure");
    sender.setDaemon(true);
    sender.start();
    try {
      sender.join(REPORT_MILLIS_MAX);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void sendEnd(String state, DriverError error) {
    try {
      attach();
      if (lineage != null) {
        lineage.endApplication(state, error);
      }
    } catch (Throwable problem) {
      // The application fails as it would without lineage.
      LoggerFactory.getLogger("headwater").warn("driver_failure_not_reported", problem);
    }
  }

  @Override
  public void onOtherEvent(SparkListenerEvent event) {
    try {
      if (event instanceof SparkListenerSQLExecutionStart) {
        attach();
        if (lineage != null) {
          lineage.guard();
          stepAhead();
        }
      } else if (event instanceof SparkListenerSQLExecutionEnd && lineage != null) {
        lineage.failQuery((SparkListenerSQLExecutionEnd) event);
      }
    } catch (Throwable ignored) {
      // The query ends as it would without lineage.
    }
  }

  @Override
  public void onApplicationEnd(SparkListenerApplicationEnd event) {
    try {
      attach();
      String signal = DriverFailure.endingSignal();
      if (signal != null) {
        String message = "The driver was ended by " + signal;
        reportApplication("ABORT", new DriverError(message, DriverFailure.language(), ""));
      }
    } catch (Throwable ignored) {
      // The application ends as it would without lineage.
    }
  }

  private void attach() {
    Option<SparkContext> active = SparkContext$.MODULE$.getActive();
    if (lineage == null && active.isDefined()) {
      attach(active.get());
    }
  }

  private void attach(SparkContext spark) {
    for (SparkListenerInterface one : spark.listenerBus().listeners()) {
      if (one.getClass().getName().equals(LINEAGE_LISTENER)) {
        lineage = new LineageListener(one, url);
        context = spark;
      }
    }
  }

  /** Moves the OpenLineage listener behind this one. Only the thread that calls both may do so. */
  private void stepAhead() {
    if (isAhead) {
      return;
    }
    isAhead = true;
    List<SparkListenerInterface> all = context.listenerBus().listeners();
    if (all.indexOf(lineage.listener) < all.indexOf(this)) {
      context.removeSparkListener(lineage.listener);
      context.addSparkListener(lineage.listener);
    }
  }
}
