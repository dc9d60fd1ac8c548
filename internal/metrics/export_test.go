package metrics

// Operations are the label values of a store's methods, for tests.
var Operations = operations
