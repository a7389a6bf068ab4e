extension ShellOperation {
  /// Makes an operation that runs a program with its arguments, without a shell.
  ///
  ///     ShellOperation("git", "rev-parse", "HEAD", output: .string(limit: 100))
  ///
  /// - Parameters:
  ///   - program: A path, or a name that is looked for in the `PATH` that the program is given.
  ///   - arguments: The program gets each of them as it is.
  ///   - directory: The working directory; nil is this process's.
  ///   - environment: A dictionary literal adds to the environment of this process.
  ///   - input: The standard input.
  ///   - output: Where the standard output goes.
  ///   - error: Where the standard error goes.
  ///   - accepted: The exits that count as success.
  public convenience init(
    _ program: String, _ arguments: String..., directory: String? = nil, environment: ProcessEnvironment = .inherited,
    input: ProcessInput = .none, output: Output = .log, error: ErrorOutput = .log,
    accepting accepted: AcceptedExits = .success
  ) {
    self.init(
      program, arguments: arguments, directory: directory, environment: environment, input: input, output: output,
      error: error, accepting: accepted)
  }

  /// As with the arguments one by one.
  public convenience init(
    _ program: String, arguments: [String], directory: String? = nil, environment: ProcessEnvironment = .inherited,
    input: ProcessInput = .none, output: Output = .log, error: ErrorOutput = .log,
    accepting accepted: AcceptedExits = .success
  ) {
    let launch = ProcessLaunch(
      [program] + arguments, directory: directory, environment: environment, input: input)
    self.init(launch, output: output, error: error, accepting: accepted)
  }

  /// Makes an operation that has `/bin/sh` execute a text: `ShellOperation(shell: "make | tee log")`.
  ///
  /// The exit is the shell's, which takes the status of the last command and of the last program in a pipeline. The
  /// shell expands variables and splits words: put no text of others into `script`, pass it in `environment`.
  public convenience init(
    shell script: String, directory: String? = nil, environment: ProcessEnvironment = .inherited,
    input: ProcessInput = .none, output: Output = .log, error: ErrorOutput = .log,
    accepting accepted: AcceptedExits = .success
  ) {
    let launch = ProcessLaunch(script: script, directory: directory, environment: environment, input: input)
    self.init(launch, output: output, error: error, accepting: accepted)
  }
}
