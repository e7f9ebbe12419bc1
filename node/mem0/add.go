package mem0

import (
	"cmp"
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
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node/serve"
)

// events has what each app added last, for GET /v1/event. It contains no texts,
// and is lost when the process ends.
type events struct {
	mu  sync.Mutex
	app map[string][]event
}

type event struct {
	id      string
	at      time.Time
	results []result
	message string // what the results do not say; empty: nothing
}

// result is what happened to a memory.
type result struct {
	id      memory.ID
	verdict memory.Verdict
}

func (e *events) add(app string, v event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := append(e.app[app], v)
	e.app[app] = list[max(len(list)-maxEvents, 0):]
}

func (e *events) find(app, id string) (event, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := slices.IndexFunc(e.app[app], func(v event) bool { return v.id == id })
	if i < 0 {
		return event{}, false
	}
	return e.app[app][i], true
}

// event reads the memories again, because they may have been forgotten since, or
// may have left the app's scope.
func (k *call) event() (any, error) {
	e, ok := k.events.find(k.app, k.r.PathValue("id"))
	if !ok {
		return nil, &refusal{http.StatusNotFound, "event: not known, or from before the node was started"}
	}
	results := []map[string]any{}
	for part := range slices.Chunk(e.results, filter.MaxValues) {
		ids := make([]string, len(part))
		for i := range part {
			ids[i] = part[i].id.String()
		}
		b, err := json.Marshal(map[string]any{"id": map[string]any{"in": ids}})
		if err != nil {
			return nil, err
		}
		var f filter.Filter
		if err := json.Unmarshal(b, &f); err != nil {
			return nil, err
		}
		page, err := k.c.List(k.r.Context(), serve.ListQuery{State: serve.AnyState, Filters: f, Limit: serve.MaxPage})
		if err != nil {
			return nil, err
		}
		for _, r := range part {
			if i := slices.IndexFunc(page.Memories, func(m memory.Memory) bool { return m.ID == r.id }); i >= 0 {
				results = append(results, resultOf(r, page.Memories[i].Text))
			}
		}
	}
	return withMessage(map[string]any{"id": e.id, "event_id": e.id, "event_type": "ADD", "status": "SUCCEEDED", "results": results, "created_at": stamp(e.at), "updated_at": stamp(e.at)}, e.message), nil
}

// withMessage adds a message, which Mem0's own servers do not have.
func withMessage(answer map[string]any, message string) map[string]any {
	if message != "" {
		answer["message"] = message
	}
	return answer
}

func resultOf(r result, text string) map[string]any {
	return map[string]any{"id": uuid(r.id), "data": map[string]any{"memory": text}, "event": string(r.verdict)}
}

// add handles the call of the hosted server: its answer names an event, which has
// the results.
func (k *call) add() (any, error) {
	infer, all, err := k.addAll()
	if err != nil {
		return nil, err
	}
	e := event{uuid(memory.ID(random())), time.Now(), nil, all.Says()}
	results := []map[string]any{}
	for _, c := range all.Changes {
		did := result{c.Memory, c.Verdict}
		e.results = append(e.results, did)
		results = append(results, resultOf(did, cmp.Or(c.New, c.Old)))
	}
	k.events.add(k.app, e)
	out := map[string]any{"event_id": e.id, "status": "PENDING", "message": cmp.Or(e.message, "Taken; GET /v1/event/"+e.id+"/ has what came of it")}
	if !infer {
		out["results"] = results
	}
	return out, nil
}

func random() (b [16]byte) {
	_, _ = rand.Read(b[:]) // never fails
	return b
}

// addNow handles the call of the self-hosted server.
func (k *call) addNow() (any, error) {
	_, all, err := k.addAll()
	if err != nil {
		return nil, err
	}
	results := []map[string]any{}
	for _, c := range all.Changes {
		results = append(results, map[string]any{"id": uuid(c.Memory), "memory": cmp.Or(c.New, c.Old), "event": string(c.Verdict)})
	}
	return withMessage(map[string]any{"results": results}, all.Says()), nil
}

// addAll adds each message, after the whole request was checked.
func (k *call) addAll() (infer bool, all serve.AddResult, err error) {
	infer = true
	var messages json.RawMessage
	var metadata map[string]json.RawMessage
	var at, expires json.RawMessage
	if err := errors.Join(k.pop("messages", &messages), k.pop("infer", &infer), k.pop("metadata", &metadata), k.pop("timestamp", &at), k.pop("expiration_date", &expires)); err != nil {
		return false, all, err
	}
	o, err := k.takeOwner()
	if err == nil {
		o, err = k.takeFiltersOwner(o)
	}
	if err == nil {
		err = k.ended("output_format", "version", "api_version", "async_mode", "org_id", "project_id", "source")
	}
	if err != nil {
		return false, all, err
	}
	r := serve.AddRequest{Infer: &infer, User: o.user, Agent: o.agent, Run: o.run}
	if r.At, err = moment("timestamp", at); err != nil {
		return false, all, err
	}
	if r.Expires, err = endOf("expiration_date", expires); err != nil {
		return false, all, err
	}
	if r.Metadata, err = metadataOf(metadata, o.app); err != nil {
		return false, all, err
	}
	list, err := messagesOf(messages)
	if err != nil {
		return false, all, err
	}
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
			return false, all, err
		}
		all.Join(&res)
	}
	return infer, all, nil
}

type message struct{ Role, Content string }

// messagesOf parses messages: a text, one message, or a list. System prompts are
// left out.
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
			return nil, bad("messages: want a text, or a list of role and content, which is text: %s", worded(err))
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
		return nil, bad("messages: none of them can be remembered")
	}
	return out, nil
}
