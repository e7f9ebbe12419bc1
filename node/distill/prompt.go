package distill

import (
	"embed"
	"encoding/json"
	"time"

	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/judge"
)

// Versions of the prompts in prompts/; the first is part of the source of memories.
// A changed prompt gets a new number.
const (
	Version        = "extract.v1"
	summaryVersion = "summary.v1"
)

//go:embed prompts/*.md
var prompts embed.FS

// schema is that of an answer. Strict servers require every property, so optional
// ones may be null.
var schema = &llm.Schema{Name: "operations", JSON: json.RawMessage(`{
"type":"object","additionalProperties":false,"required":["operations"],
"properties":{"operations":{"type":"array","items":{
"type":"object","additionalProperties":false,
"required":["op","message","quote","id","type","text","value","steps","when","sensitivity","confidence"],
"properties":{
"op":{"type":"string","enum":["ADD","UPDATE","DELETE","NOOP"]},
"message":{"type":"integer"},
"quote":{"type":"string"},
"id":{"type":["integer","null"]},
"type":{"type":"string","enum":["semantic","episodic","procedural"]},
"text":{"type":"string"},
"value":{"type":["string","null"]},
"steps":{"type":"array","items":{"type":"string"}},
"when":{"type":["string","null"]},
"sensitivity":{"type":"string","enum":["personal","private"]},
"confidence":{"type":"number"}}}}}}`)}

type shownKnown struct {
	ID    int         `json:"id"`
	Type  memory.Type `json:"type"`
	Text  string      `json:"text"`
	Since string      `json:"since,omitempty"`
}

// request returns the request to the model. The utterances are in JSON, so that no
// text of theirs can break out of it.
func request(b *judge.Batch) llm.Request {
	data := struct {
		Wearer   string        `json:"wearer"`
		Summary  string        `json:"summary,omitempty"`
		Earlier  []judge.Shown `json:"earlier,omitempty"`
		Known    []shownKnown  `json:"known,omitempty"`
		Messages []judge.Shown `json:"messages"`
	}{Wearer: b.Wearer, Summary: b.Summary, Earlier: judge.Show(b.Earlier, false), Messages: judge.Show(b.Messages, true)}
	for i := range b.Known {
		m := &b.Known[i]
		k := shownKnown{ID: i + 1, Type: m.Type, Text: m.Text}
		if !m.TrueFrom.IsZero() {
			k.Since = m.TrueFrom.Format(time.DateOnly)
		}
		data.Known = append(data.Known, k)
	}
	system := llm.Prompt(prompts, Version)
	if b.Instructions != "" {
		system += "\n\nWhat the wearer wishes to be kept and left out, within the rules above:\n" + b.Instructions
	}
	return llm.Request{System: system, Messages: llm.FromUser(llm.JSON(data)), Schema: schema}
}

// summaryRequest asks for a summary that continues another one.
func summaryRequest(before string, ms []judge.Message) llm.Request {
	data := struct {
		Summary  string        `json:"summary"`
		Messages []judge.Shown `json:"messages"`
	}{before, judge.Show(ms, false)}
	return llm.Request{System: llm.Prompt(prompts, summaryVersion), Messages: llm.FromUser(llm.JSON(data))}
}
