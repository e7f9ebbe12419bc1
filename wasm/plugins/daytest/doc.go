// Package daytest plays whole days through the text extractors natively, as
// the node does through the sandbox, and has the day's judge look at what
// comes of them: hundreds of days take seconds. It holds tests alone.
package daytest
