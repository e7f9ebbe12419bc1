// Package labelled contains sets of everyday talk with the judgement of a careful person: what each
// line gives to remember, and which lines answer a question. A line is one thing said by one
// speaker. A scene is a conversation of lines that follow each other. A label is one memory that a
// line should give. README.md defines the fields, and when a memory is right. SHA256SUMS freezes
// the sets.
package labelled

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

//go:embed *.jsonl SHA256SUMS
var files embed.FS

// Line is one thing that somebody said. In the extraction set, either Expect or None is set; in the
// Chinese set, neither.
type Line struct {
	ID      string    `json:"id"`
	Scene   string    `json:"scene"`
	Lang    string    `json:"lang,omitempty"` // en, zh, mixed
	Speaker string    `json:"speaker"`
	At      time.Time `json:"at"`
	Zone    string    `json:"zone"` // IANA name
	Text    string    `json:"text"`
	Expect  []Label   `json:"expect,omitempty"`
	None    string    `json:"none,omitempty"`   // why there is nothing to remember
	Either  bool      `json:"either,omitempty"` // memories made from it are not counted
}

// Label is one memory that a line should give.
type Label struct {
	Kinds    []Kind     `json:"kinds"`
	About    []string   `json:"about,omitempty"`
	Terms    [][]string `json:"terms"` // one of each group
	Date     string     `json:"date,omitempty"`
	Never    []string   `json:"never,omitempty"`
	Optional bool       `json:"optional,omitempty"`
}

// Kind is what sort of thing a label is.
type Kind string

// Kinds in the order in which they are shown.
var Kinds = [...]Kind{"preference", "biography", "relation", "place", "possession", "event", "plan", "promise", "howto", "correction", "ended", "secret"}

// Question is a question about the Chinese set.
type Question struct {
	ID       string   `json:"id"`
	Lang     string   `json:"lang"`
	Kind     string   `json:"kind"`
	Cross    bool     `json:"cross"` // its evidence is in the other language
	Question string   `json:"question"`
	Evidence []string `json:"evidence"` // ids of lines
}

// Extract is the extraction set, in the order of time.
func Extract() ([]Line, error) { return read[Line]("extract.jsonl") }

// ASR is the set of lines as a recogniser writes them, in the order of time.
func ASR() ([]Line, error) { return read[Line]("asr.jsonl") }

// Chinese is the retrieval set: its lines in the order of time, and the questions about them.
func Chinese() ([]Line, []Question, error) {
	lines, err := read[Line]("chinese_lines.jsonl")
	if err != nil {
		return nil, nil, err
	}
	questions, err := read[Question]("chinese_questions.jsonl")
	return lines, questions, err
}

// Few is a home of a dozen lines, as on the first evening, with the questions about it.
type Few struct {
	Home  string   `json:"home"`
	Lang  string   `json:"lang"`
	Lines []string `json:"lines"`
	Ask   []struct {
		Question string `json:"question"`
		Has      string `json:"has"` // of the right first hit
	} `json:"ask"`
	None []string `json:"none"` // questions that no line answers
}

// FewLines are the homes of a dozen lines.
func FewLines() ([]Few, error) { return read[Few]("few.jsonl") }

// read checks the file against its frozen hash and decodes it.
func read[T any](name string) ([]T, error) {
	b, err := files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	sums, err := files.ReadFile("SHA256SUMS")
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(b)
	if !strings.Contains(string(sums), hex.EncodeToString(sum[:])+"  "+name+"\n") {
		return nil, fmt.Errorf("read %s: it is not the file that was frozen", name)
	}
	var out []T
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	for n := 1; ; n++ {
		var v T
		switch err := dec.Decode(&v); {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("read %s: line %d: %w", name, n, err)
		}
		out = append(out, v)
	}
}
