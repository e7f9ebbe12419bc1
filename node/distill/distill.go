// Package distill has a language model find memories in what was said: after
// the extractors, apart from the way of an event, and trusted less than they.
// What the model may say, and what becomes of it, is package judge's.
//
// A message is parked when its model could not be brought to an answer that can
// be used: it stays as it was said, and is asked about again when the wearer
// says so.
package distill

// MaxBatch is how many messages are asked about at once.
const MaxBatch = 8

// Bounds of the model's context. They are small, because models that run at home
// have a small context.
const (
	maxEarlier = 8  // messages shown before them
	maxNear    = 6  // known memories looked up for each message
	maxKnown   = 20 // known memories shown
)
