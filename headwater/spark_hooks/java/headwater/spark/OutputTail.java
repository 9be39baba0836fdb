package headwater.spark;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;

/** The last output of a Python driver under spark-submit, which prints its exception there. */
final class OutputTail extends OutputStream {
  private static final int BYTES_MAX = 16_384;
  private static final int MESSAGE_MAX = 2_000;
  private static final String TRACEBACK = "Traceback (most recent call last):";

  private final OutputStream next;
  private final ByteArrayOutputStream tail = new ByteArrayOutputStream();

  private OutputTail(OutputStream next) {
    this.next = next;
  }

  /** Stands between the thread that copies the output and the output of the JVM. */
  static OutputTail of(Thread redirect) throws Exception {
    Field out = redirect.getClass().getDeclaredField("out");
    out.setAccessible(true);
    OutputTail tail = new OutputTail((OutputStream) out.get(redirect));
    out.set(redirect, tail);
    return tail;
  }

  /** Returns the exception of the last traceback, or null. */
  synchronized DriverError pythonError() {
    String text = new String(tail.toByteArray(), StandardCharsets.UTF_8);
    int begin = text.lastIndexOf(TRACEBACK);
    if (begin < 0) {
      return null;
    }
    String trace = text.substring(begin).trim();
    // The frames are indented; the exception begins the first line that is not.
    int error = trace.indexOf('\n');
    while (error >= 0 && error + 1 < trace.length() && trace.charAt(error + 1) == ' ') {
      error = trace.indexOf('\n', error + 1);
    }
    if (error < 0) {
      return null;
    }
    String message = trace.substring(error + 1).split("\n\tat ", 2)[0];
    return new DriverError(
        message.substring(0, Math.min(message.length(), MESSAGE_MAX)), "PYTHON", trace);
  }

  @Override
  public void write(int one) throws IOException {
    write(new byte[] {(byte) one}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    next.write(bytes, offset, length);
    remember(bytes, offset, length);
  }

  private synchronized void remember(byte[] bytes, int offset, int length) {
    tail.write(bytes, offset, length);
    if (tail.size() > 2 * BYTES_MAX) {
      byte[] all = tail.toByteArray();
      tail.reset();
      tail.write(all, all.length - BYTES_MAX, BYTES_MAX);
    }
  }

  @Override
  public void flush() throws IOException {
    next.flush();
  }

  @Override
  public void close() throws IOException {
    next.close();
  }
}
