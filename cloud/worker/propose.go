package worker

import (
	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/memory"
)

// These relations and tags connect the answer to a question with the photo and
// the question.
const (
	AnswerTo    = "answer_to"
	AnswerAbout = "answer_about"
	TagAnswer   = "answer"
)

// Tags that the node sets and a worker uses.
const (
	tagQuestion = "question"
	asksAbout   = "asks_about"
)

// Version is the version of how candidates are made. It is part of their
// source.
const Version = "1.0.0"

// Keys of a result's metadata.
const (
	metaPrompt   = "prompt"    // name and version of the prompt
	metaTokens   = "tokens"    // that the answer took
	metaMicroUSD = "micro_usd" // what the answer cost, at the worker's prices
)

// candidate returns the memory to propose.
func candidate(src *memory.Memory, a *result.Answer) memory.Candidate {
	return result.Candidate(src, a, result.By{Plugin: plugin(a.Kind), Version: Version})
}

func plugin(k queue.Kind) string { return memory.WorkerPlugin + string(k) }
