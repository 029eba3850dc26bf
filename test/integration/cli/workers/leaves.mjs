// A module that ends its process while it is loaded, as one does that runs something of its own.
process.exit(0)
