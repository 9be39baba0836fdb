package headwater.spark;

/** The reason for which a driver failed: a message, its language, and a stack trace or "". */
final class DriverError {
  final String message;
  final String language;
  final String stackTrace;

  DriverError(String message, String language, String stackTrace) {
    this.message = message;
    this.language = language;
    this.stackTrace = stackTrace;
  }
}
