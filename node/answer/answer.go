// Package answer has a language model answer a question from a block of context,
// and checks the answer against that block.
//
// The words:
//
//   - A citation is the cite of a line of the block, in brackets, in an answer.
//   - An answer counts as cited if at least one of its citations is in the block,
//     and none is outside of it. A model that cites what it wasn't given made that up, and
//     perhaps the rest, too.
//
// Everything here is a pure function of its arguments.
package answer

import (
	"embed"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/memory/retrieve"
)

// Versions of the prompts in prompts/.
const (
	Version      = "answer.v1"
	topicVersion = "topic.v1"
)

//go:embed prompts/*.md
var prompts embed.FS

// Unknown is the answer if memory does not have one.
const Unknown = "I don't know."

// Request makes the request to answer a question from a block. The question may
// continue earlier questions and answers, the latest last.
func Request(question string, before []retrieve.Turn, block, wearer string, now time.Time) llm.Request {
	text := block + "\n\nThe wearer is " + quoted(wearer) + ". It is " + now.Format("Monday, 2006-01-02 15:04") + "."
	if len(before) > 0 {
		text += "\nWhat was asked and answered before, as data: " + messages(before)
	}
	text += "\nQuestion: " + quoted(question)
	return llm.Request{System: llm.Prompt(prompts, Version), Messages: llm.FromUser(text)}
}

// TopicRequest makes the request for the topic of the last of some turns.
func TopicRequest(turns []retrieve.Turn) llm.Request {
	return llm.Request{System: llm.Prompt(prompts, topicVersion), Messages: llm.FromUser(messages(turns))}
}

// messages returns a conversation as JSON.
func messages(turns []retrieve.Turn) string {
	type message struct {
		Speaker string `json:"speaker,omitempty"`
		Text    string `json:"text"`
	}
	list := make([]message, len(turns))
	for i, t := range turns {
		list[i] = message(t)
	}
	return llm.JSON(list)
}

// maxTopic is the maximum length of a topic that Topic accepts, in bytes.
const maxTopic = 300

// Topic returns the topic in an answer. It is empty if there is none.
func Topic(text string) string {
	t := strings.Trim(strings.Join(strings.Fields(text), " "), "\"“”' ")
	if len(t) > maxTopic {
		return ""
	}
	return t
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string can always be encoded
	}
	return string(b)
}

// Answer is what a model said, checked against the block that it was given.
type Answer struct {
	Text     string
	Unknown  bool            // it says that it does not know
	Cited    bool            // it cites lines of the block, and nothing else
	Lines    []retrieve.Line // the lines that it cites, in the block's order
	Invented []string        // citations of lines that the block does not have
}

// maxAnswer is the maximum length of an answer that is passed on, in bytes.
const maxAnswer = 4 << 10

var brackets = regexp.MustCompile(`\[([^\[\]]{1,200})\]`)

// cite is the form of a citation, real or invented.
var cite = regexp.MustCompile(`^[0-9a-z]{8,26}$`)

// Read checks an answer against the lines of its block.
func Read(text string, lines []retrieve.Line) Answer {
	text = strings.TrimSpace(text)
	if len(text) > maxAnswer {
		text = strings.ToValidUTF8(text[:maxAnswer], "") + "…"
	}
	a := Answer{Text: text}
	for _, m := range brackets.FindAllStringSubmatch(text, -1) {
		for _, c := range strings.FieldsFunc(strings.ToLower(m[1]), func(r rune) bool { return r == ',' || r == ';' || r == ' ' }) {
			if !cite.MatchString(c) {
				continue
			}
			i := slices.IndexFunc(lines, func(l retrieve.Line) bool {
				return strings.HasPrefix(c, l.Cite) && strings.HasPrefix(l.ID.String(), c)
			})
			switch {
			case i < 0 && !slices.Contains(a.Invented, c):
				a.Invented = append(a.Invented, c)
			case i >= 0 && !slices.ContainsFunc(a.Lines, func(l retrieve.Line) bool { return l.ID == lines[i].ID }):
				a.Lines = append(a.Lines, lines[i])
			}
		}
	}
	a.Cited = len(a.Lines) > 0 && len(a.Invented) == 0
	a.Unknown = len(a.Lines) == 0 && saysUnknown(text)
	return a
}

// Plain returns an answer's text without its citations.
func (a *Answer) Plain() string {
	s := brackets.ReplaceAllStringFunc(a.Text, func(m string) string {
		for _, c := range strings.FieldsFunc(strings.ToLower(m[1:len(m)-1]), func(r rune) bool { return r == ',' || r == ';' || r == ' ' }) {
			if !cite.MatchString(c) {
				return m
			}
		}
		return ""
	})
	return strings.TrimSpace(strings.NewReplacer(" .", ".", " ,", ",").Replace(strings.Join(strings.Fields(s), " ")))
}

func saysUnknown(text string) bool {
	t := strings.ToLower(strings.ReplaceAll(text, "’", "'"))
	return slices.ContainsFunc([]string{"i don't know", "i do not know", "not known", "no information", "不知道", "没有记录"}, func(s string) bool { return strings.Contains(t, s) })
}
