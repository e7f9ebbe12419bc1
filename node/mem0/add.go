package mem0

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// events are what was added last, for GET /v1/event. They are gone with the process.
type events struct {
	mu   sync.Mutex
	list []event
}

type event struct {
	id, app string
	at      time.Time
	results []map[string]any
}

func (e *events) keep(v event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, v)
	e.list = e.list[max(len(e.list)-maxEvents, 0):]
}

func (k *call) event() (any, error) {
	k.events.mu.Lock()
	defer k.events.mu.Unlock()
	for _, e := range k.events.list {
		if e.id == k.r.PathValue("id") && e.app == k.app {
			return map[string]any{"id": e.id, "event_id": e.id, "event_type": "ADD", "status": "SUCCEEDED", "results": e.results, "created_at": stamp(e.at), "updated_at": stamp(e.at)}, nil
		}
	}
	return nil, &refusal{http.StatusNotFound, "event: not known, or from before the node was started"}
}

// add is the hosted server's: the answer names an event, which has its results.
func (k *call) add() (any, error) {
	infer, results, err := k.addAll()
	if err != nil {
		return nil, err
	}
	e := event{uuid(memory.ID(random())), k.app, time.Now(), results}
	k.events.keep(e)
	out := map[string]any{"event_id": e.id, "status": "PENDING", "message": "Remembered; GET /v1/event/" + e.id + "/ has what came of it"}
	if !infer {
		out["results"] = results
	}
	return out, nil
}

func random() (b [16]byte) {
	_, _ = rand.Read(b[:]) // never fails
	return b
}

// addNow is the self-hosted server's.
func (k *call) addNow() (any, error) {
	_, results, err := k.addAll()
	if err != nil {
		return nil, err
	}
	flat := []map[string]any{}
	for _, r := range results {
		flat = append(flat, map[string]any{"id": r["id"], "memory": r["data"].(map[string]any)["memory"], "event": r["event"]})
	}
	return map[string]any{"results": flat}, nil
}

// addAll adds each message, once the whole request was seen to be right.
func (k *call) addAll() (infer bool, results []map[string]any, err error) {
	infer = true
	var messages json.RawMessage
	var metadata map[string]json.RawMessage
	var at, expires json.RawMessage
	if err := errors.Join(k.take("messages", &messages), k.take("infer", &infer), k.take("metadata", &metadata), k.take("timestamp", &at), k.take("expiration_date", &expires)); err != nil {
		return false, nil, err
	}
	o, err := k.takeOwner()
	if err == nil {
		err = k.ended("output_format", "version", "api_version", "async_mode", "org_id", "project_id", "source")
	}
	if err != nil {
		return false, nil, err
	}
	r := serve.AddRequest{Infer: &infer, User: o.user, Agent: o.agent, Run: o.run}
	if r.At, err = moment("timestamp", at); err != nil {
		return false, nil, err
	}
	if r.Expires, err = moment("expiration_date", expires); err != nil {
		return false, nil, err
	}
	if r.Metadata, err = metadataOf(metadata, o.app); err != nil {
		return false, nil, err
	}
	list, err := messagesOf(messages)
	if err != nil {
		return false, nil, err
	}
	results = []map[string]any{}
	for i, m := range list {
		r.Text, r.Speaker = m.Content, ""
		if m.Role == "assistant" {
			r.Speaker = "assistant"
		}
		res, err := k.c.Add(k.r.Context(), r)
		if err != nil {
			if i > 0 {
				err = fmt.Errorf("messages[%d]: %w (those before were taken)", i, err)
			}
			return false, nil, err
		}
		for _, c := range res.Changes {
			results = append(results, map[string]any{"id": uuid(c.Memory), "data": map[string]any{"memory": c.New}, "event": string(c.Verdict)})
		}
	}
	return infer, results, nil
}

type message struct{ Role, Content string }

// messagesOf reads messages: a text, one message, or a list. What a system prompt
// says is no memory.
func messagesOf(raw json.RawMessage) (out []message, err error) {
	var text string
	var one message
	var list []message
	switch {
	case len(raw) == 0:
		return nil, bad("messages: wanted")
	case json.Unmarshal(raw, &text) == nil:
		list = []message{{"user", text}}
	case json.Unmarshal(raw, &one) == nil:
		list = []message{one}
	default:
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, bad("messages: want a text, or a list of role and content, which is text: %v", err)
		}
	}
	if len(list) > maxMessages {
		return nil, bad("messages: %d, at most %d", len(list), maxMessages)
	}
	for i, m := range list {
		switch {
		case m.Role == "system":
		case !slices.Contains([]string{"", "user", "assistant"}, m.Role):
			return nil, bad("messages[%d].role: %.40q: want user, assistant or system", i, m.Role)
		case strings.TrimSpace(m.Content) == "" || len(m.Content) > memory.MaxText:
			return nil, bad("messages[%d].content: want 1 to %d bytes", i, memory.MaxText)
		default:
			out = append(out, m)
		}
	}
	if len(out) == 0 {
		return nil, bad("messages: none that could be remembered")
	}
	return out, nil
}
