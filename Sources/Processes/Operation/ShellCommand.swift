extension ShellOperation {
  /// Creates an operation that runs a program with its arguments, without a shell.
  ///
  ///     ShellOperation("git", "rev-parse", "HEAD", output: .string(limit: 100))
  ///
  /// - Parameters:
  ///   - program: A path, or a name that is looked up in the `PATH` of the program's environment.
  ///   - arguments: The arguments, which the program receives unchanged.
  ///   - directory: The working directory; nil means the directory of this process.
  ///   - environment: A dictionary literal adds to the environment of this process.
  ///   - input: The standard input.
  ///   - output: The destination of the standard output.
  ///   - error: The destination of the standard error; nil or `.merged` for the destination of the standard output.
  ///   - accepted: The exits that count as success.
  public convenience init(
    _ program: String, _ arguments: String..., directory: String? = nil, environment: ProcessEnvironment = .inherited,
    input: ProcessInput = .none, output: ProcessOutput = .log, error: ProcessOutput? = .log,
    accepting accepted: AcceptedExits = .success
  ) {
    self.init(
      program, arguments: arguments, directory: directory, environment: environment, input: input, output: output,
      error: error, accepting: accepted)
  }

  /// Creates an operation that runs a program with an array of arguments, without a shell.
  public convenience init(
    _ program: String, arguments: [String], directory: String? = nil, environment: ProcessEnvironment = .inherited,
    input: ProcessInput = .none, output: ProcessOutput = .log, error: ProcessOutput? = .log,
    accepting accepted: AcceptedExits = .success
  ) {
    let launch = ProcessLaunch(
      [program] + arguments, directory: directory, environment: environment, input: input)
    self.init(launch, output: output, error: error, accepting: accepted)
  }

  /// Creates an operation that executes a script with `/bin/sh`: `ShellOperation(shell: "make | tee log")`.
  ///
  /// The exit is the shell's, which takes the status of the last command and of the last program in a pipeline. The
  /// shell expands variables and splits words: don't put text from others into `script`; pass it in `environment`.
  public convenience init(
    shell script: String, directory: String? = nil, environment: ProcessEnvironment = .inherited,
    input: ProcessInput = .none, output: ProcessOutput = .log, error: ProcessOutput? = .log,
    accepting accepted: AcceptedExits = .success
  ) {
    let launch = ProcessLaunch(script: script, directory: directory, environment: environment, input: input)
    self.init(launch, output: output, error: error, accepting: accepted)
  }
}
