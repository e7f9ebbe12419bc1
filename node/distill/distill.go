// Package distill has a language model find memories in what was said. It runs
// after the extractors, outside the processing of events, and is trusted less
// than they are. Package judge decides what the model may say, and what results
// from it.
//
// A message is parked if its model could not be brought to a usable answer: it
// stays as it was said, and the model is asked again when the wearer says so.
package distill

// MaxBatch is how many messages the model is asked about at once.
const MaxBatch = 8

// Limits of the model's context. They are small, because models that run at home
// have a small context.
const (
	maxEarlier = 8  // messages shown before them
	maxNear    = 6  // known memories looked up for each message
	maxKnown   = 20 // known memories shown
)
