// Package checkpointtest makes runs with the checkpoints that runners keep of
// them, for tests and simulations.
//
// A [Run] is one turn in which an agent asks for permission, gets it, calls
// the tool and is given its result. [Run.Checkpoint] is what the runner has
// kept of it at a [Stage]; the last stage binds by the profile
// [checkpoint.KimiContext]. Everything follows from the run's name, so the
// same name gives the same bytes.
package checkpointtest
