import Foundation

let rounds = CommandLine.arguments.dropFirst(2).first.flatMap(Int.init) ?? 5
switch CommandLine.arguments.dropFirst().first {
case "operations":
  measureStates(rounds)
  try measureLives(rounds)
case "shapes": try measureShapes(rounds)
case "tasks": try measureTasks(rounds)
case "served": try measureServed(rounds)
case "observe":
  measureStates(rounds)
  measureChanges(rounds)
  measureHandlers(rounds)
  measureDrains()
default:
  print("usage: operation-benchmarks operations|shapes|tasks|served|observe [ROUNDS]")
  exit(2)
}
