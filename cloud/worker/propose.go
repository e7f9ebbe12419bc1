package worker

import (
	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/memory"
)

// How the answer to a question about a photo is tied to both, and tagged.
const (
	AnswerTo    = "answer_to"
	AnswerAbout = "answer_about"
	TagAnswer   = "answer"
)

// What the node tags, and what a worker goes by.
const (
	tagQuestion = "question"
	asksAbout   = "asks_about"
)

// Version of how candidates are made; it is part of their source.
const Version = "1.0.0"

// What a result says of what it was asked with, in its metadata.
const (
	metaPrompt   = "prompt"    // name and version of what was asked
	metaTokens   = "tokens"    // that the answer took
	metaMicroUSD = "micro_usd" // and what that cost, at the worker's prices
)

// candidate makes the memory that is proposed.
func candidate(src *memory.Memory, a *result.Answer) memory.Candidate {
	return result.Candidate(src, a, result.By{Plugin: plugin(a.Kind), Version: Version})
}

func plugin(k queue.Kind) string { return memory.WorkerPlugin + string(k) }
