// One import is enough for a program that watches its own queue.
@_exported import Foundation
@_exported import Operations
@_exported import Processes
@_exported import Transfers
