import Operations
