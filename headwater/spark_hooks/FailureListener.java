package headwater;

import io.openlineage.spark.agent.OpenLineageSparkListener;
import io.openlineage.spark.agent.lifecycle.ExecutionContext;
import java.lang.reflect.Field;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.JobFailed;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart;
import scala.collection.Seq;
import scala.reflect.ClassTag$;

/**
 * Reports the failures that the OpenLineage listener does not.
 *
 * That listener looks at the end of the first Spark job of a query only. With adaptive execution every shuffle is
 * a job of its own, so a query that fails in a later job, or when its output is committed, goes out as COMPLETE.
 * This listener stands behind it on the same queue, keeps each query's context while it runs, and when Spark says
 * that the query ended in an error makes that context send the FAIL it owes: same run, same job, same datasets.
 *
 * It is compiled inside the driver by Janino, the compiler Spark uses for its own queries, so no jar is needed.
 * Janino knows no type arguments here: hence the casts. It throws nothing, whatever happens.
 */
public class FailureListener extends SparkListener {
    private final Map registry;
    private final Map contexts = new HashMap();

    private FailureListener(Map registry) {
        this.registry = registry;
    }

    /** Adds itself behind the OpenLineage listener of this context; says why when it can not. */
    public static String install(SparkContext spark) throws Exception {
        Seq found = spark.listenerBus().findListenersByClass(ClassTag$.MODULE$.apply(OpenLineageSparkListener.class));
        if (found.isEmpty()) {
            return "the OpenLineage listener is not running";
        }
        Seq ours = spark.listenerBus().findListenersByClass(ClassTag$.MODULE$.apply(FailureListener.class));
        if (ours.isEmpty()) {
            Field field = OpenLineageSparkListener.class.getDeclaredField("sparkSqlExecutionRegistry");
            field.setAccessible(true);
            spark.addSparkListener(new FailureListener((Map) field.get(found.head())));
        }
        return "";
    }

    public void onOtherEvent(SparkListenerEvent event) {
        try {
            if (event instanceof SparkListenerSQLExecutionStart) {
                Long id = Long.valueOf(((SparkListenerSQLExecutionStart) event).executionId());
                contexts.put(id, registry.get(id));
            } else if (event instanceof SparkListenerSQLExecutionEnd) {
                end((SparkListenerSQLExecutionEnd) event);
            }
        } catch (Throwable ignored) {
            // Lineage is never worth a job.
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
}
