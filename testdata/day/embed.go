// Package day holds the files of the fixed day as they lie in this folder, so
// that an installed binary can replay it. Package internal/day reads them.
package day

import "embed"

// Files are day.jsonl, expect.json and what they name.
//
//go:embed day.jsonl expect.json *.jpg *.png *.opus
var Files embed.FS
