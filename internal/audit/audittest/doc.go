// Package audittest makes decided ledgers for tests: a simulated CI's arrivals,
// troubles of every kind included, decided by the real writer, on the real
// server that the daemon embeds.
package audittest
