// Package daytest plays entire days through the text extractors natively, as the node does through
// the sandbox, and has the day's judge check the results: hundreds of days take seconds. It only
// contains tests.
package daytest
