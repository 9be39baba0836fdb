package headwater.spark;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import scala.Function1;
import scala.Function2;
import scala.runtime.AbstractFunction1;
import scala.runtime.AbstractFunction2;

/**
 * Observes how the driver ends, and reports its failure once.
 *
 * <p>A Java or Scala driver ends with an exception of the main thread. A Python driver under
 * spark-submit ends with an exit code, and prints its exception. A Python driver that started Spark
 * itself calls the public method ({@code headwater.spark_hooks}).
 */
public final class DriverFailure {
  private static boolean isWatching;
  private static boolean isReported;
  private static volatile OutputTail output;

  private DriverFailure() {}

  /** Watches the driver of this JVM, once. */
  static synchronized void watch() throws Exception {
    if (isWatching) {
      return;
    }
    isWatching = true;
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread.getName().equals("main") && thread.getThreadGroup() != null) {
        watchExceptions(thread);
      } else if (thread.getName().equals("redirect output")) {
        output = OutputTail.of(thread);
      }
    }
    watchExitCode();
  }

  /** Reports an exception of a Python driver: FAIL, or ABORT if it was interrupted. */
  public static void pythonFailed(String state, String message, String stackTrace) {
    report(state, new DriverError(message, "PYTHON", stackTrace));
  }

  /** Returns the signal that is ending this JVM, or null. */
  static String endingSignal() {
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread.getName().matches("SIG(TERM|INT|HUP) handler")) {
        return thread.getName().replace(" handler", "");
      }
    }
    return null;
  }

  /** Returns the language of the driver: only a Python driver under spark-submit has an output. */
  static String language() {
    return output == null ? "JAVA" : "PYTHON";
  }

  private static void report(String state, DriverError error) {
    synchronized (DriverFailure.class) {
      if (isReported) {
        return;
      }
      isReported = true;
    }
    FailureListener.reportApplication(state, error);
  }

  private static void watchExceptions(Thread main) {
    Thread.UncaughtExceptionHandler present = main.getUncaughtExceptionHandler();
    main.setUncaughtExceptionHandler(
        (thread, thrown) -> {
          report("FAIL", errorOf(thrown));
          present.uncaughtException(thread, thrown);
        });
  }

  private static DriverError errorOf(Throwable thrown) {
    Throwable cause = thrown;
    while (cause instanceof InvocationTargetException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    StringWriter trace = new StringWriter();
    cause.printStackTrace(new PrintWriter(trace, true));
    return new DriverError(cause.toString(), "JAVA", trace.toString());
  }

  /** Wraps the function by which spark-submit exits; Spark 4.1 passes it one argument more. */
  @SuppressWarnings("unchecked")
  private static void watchExitCode() throws Exception {
    Class<?> type = Class.forName("org.apache.spark.deploy.SparkSubmit$");
    Object submit = type.getField("MODULE$").get(null);
    Method getter = type.getMethod("exitFn");
    Object exit = getter.invoke(submit);
    Object watched =
        exit instanceof Function2
            ? new ExitWithCause((Function2<Object, Object, Object>) exit)
            : new Exit((Function1<Object, Object>) exit);
    type.getMethod("exitFn_$eq", getter.getReturnType()).invoke(submit, watched);
  }

  private static void exits(Object code) {
    try {
      if (!Integer.valueOf(0).equals(code)) {
        DriverError printed = output == null ? null : output.pythonError();
        String message = "The driver ended with exit code " + code;
        report("FAIL", printed == null ? new DriverError(message, language(), "") : printed);
      }
    } catch (Throwable ignored) {
      // The driver exits as it would without lineage.
    }
  }

  private static final class Exit extends AbstractFunction1<Object, Object> {
    private final Function1<Object, Object> next;

    Exit(Function1<Object, Object> next) {
      this.next = next;
    }

    @Override
    public Object apply(Object code) {
      exits(code);
      return next.apply(code);
    }
  }

  private static final class ExitWithCause extends AbstractFunction2<Object, Object, Object> {
    private final Function2<Object, Object, Object> next;

    ExitWithCause(Function2<Object, Object, Object> next) {
      this.next = next;
    }

    @Override
    public Object apply(Object code, Object cause) {
      exits(code);
      return next.apply(code, cause);
    }
  }
}
