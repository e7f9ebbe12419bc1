// Package prompts has the prompts for language models, with their versions.
//
// A prompt is a file of files/, NAME.vN.md. The version is part of the source
// of every result, so the text of a prompt that was used never changes: a new
// text is a file with the next number. prompts.sum has the SHA-256 of each
// file, and a test compares them.
package prompts

import (
	"embed"
	"strings"
)

// The prompts that are used, by their names and versions.
const (
	Rules      = "rules.v1" // of every manager and of the router
	Router     = "router.v1"
	Core       = "core.v1"
	Episodic   = "episodic.v1"
	Semantic   = "semantic.v1"
	Procedural = "procedural.v1"
	Resource   = "resource.v1"
	Reconcile  = "reconcile.v1"
	Summary    = "summary.v1"
	Community  = "community.v1"
	Merge      = "merge.v1"
	Caption    = "caption.v2" // the first one was asked without a file
	Sequence   = "sequence.v1"
	Question   = "question.v1"
)

//go:embed files/*.md
var files embed.FS

// Text returns the prompts with these names, one after another. It panics if
// one does not exist, because the program was then not built correctly.
func Text(names ...string) string {
	var parts []string
	for _, n := range names {
		b, err := files.ReadFile("files/" + n + ".md")
		if err != nil {
			panic(err)
		}
		parts = append(parts, strings.TrimSpace(string(b)))
	}
	return strings.Join(parts, "\n\n")
}
