package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"github.com/locket-dev/locket/cmd/locket-bench/labelled"
)

// mindTalk is a talk of our own in English and Chinese, with what each line gives to remember. It is
// for development: prompts and rules may be changed because of it.
//
//go:embed mind/lines.jsonl
var mindTalk []byte

// mindAsked are questions about the talk.
//
//go:embed mind/questions.jsonl
var mindAsked []byte

// mindQuestion is a question about the talk.
type mindQuestion struct {
	Question string   `json:"question"`
	Has      []string `json:"has"` // one of them is in a right answer; none: no line answers it
}

// answeredBy reports whether a text has what a right answer has.
func (q *mindQuestion) answeredBy(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(q.Has, func(s string) bool { return strings.Contains(text, strings.ToLower(s)) })
}

func mindLines() ([]labelled.Line, error)    { return readJSONL[labelled.Line](mindTalk) }
func mindQuestions() ([]mindQuestion, error) { return readJSONL[mindQuestion](mindAsked) }

// readJSONL reads one JSON object per line.
func readJSONL[T any](b []byte) (list []T, err error) {
	s := bufio.NewScanner(bytes.NewReader(b))
	for s.Scan() {
		var v T
		d := json.NewDecoder(bytes.NewReader(s.Bytes()))
		d.DisallowUnknownFields()
		if err := d.Decode(&v); err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, s.Err()
}
