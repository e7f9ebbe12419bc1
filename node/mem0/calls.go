package mem0

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node/serve"
)

// Limits of one request.
const (
	maxMessages = 100
	maxEvents   = 1000
	pageSize    = 100
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

// filter reads the filters of a request, with its owner's.
func (k *call) filter(o owner) (f filter.Filter, err error) {
	var in any
	if raw, ok := k.body["filters"]; ok && string(raw) != "null" {
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		if err := dec.Decode(&in); err != nil {
			return f, bad("filters: %v", err)
		}
	}
	delete(k.body, "filters")
	var parts []any
	if m, ok := in.(map[string]any); in != nil && !(ok && len(m) == 0) {
		parts = append(parts, in)
	}
	if own := o.filters(); len(own) > 0 {
		parts = append(parts, own)
	}
	if len(parts) == 0 {
		return f, nil
	}
	to, err := translate("filters", map[string]any{"AND": parts}, 0)
	if err != nil {
		return f, err
	}
	b, err := json.Marshal(to)
	if err != nil {
		return f, bad("filters: %v", err)
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return f, bad("filters: %v", err)
	}
	return f, nil
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

func (k *call) search() (any, error) {
	q := serve.SearchRequest{Only: serve.OnlyMemories}
	var limit int
	var threshold *float64
	var fields []string
	o, err := k.takeOwner()
	if err == nil {
		err = errors.Join(k.take("query", &q.Query), k.take("top_k", &q.K), k.take("limit", &limit), k.take("threshold", &threshold), k.take("fields", &fields))
	}
	if err == nil {
		q.Filters, err = k.filter(o)
	}
	if err == nil {
		err = k.ended("output_format", "version", "api_version", "rerank", "latest_only", "org_id", "project_id", "source", "keyword_search", "filter_memories")
	}
	if err != nil {
		return nil, err
	}
	if q.K == 0 {
		q.K = limit
	}
	if threshold != nil {
		q.Threshold = *threshold
	}
	res, err := k.c.Search(k.r.Context(), q)
	if err != nil {
		return nil, err
	}
	out := []map[string]any{}
	for i := range res.Hits {
		if h := &res.Hits[i]; h.Memory != nil && !h.Cold {
			out = append(out, only(hit(h), fields))
		}
	}
	return map[string]any{"results": out}, nil
}

// only keeps the fields that were asked for, and the id.
func only(e map[string]any, fields []string) map[string]any {
	if len(fields) == 0 {
		return e
	}
	out := map[string]any{"id": e["id"]}
	for _, f := range fields {
		if v, ok := e[f]; ok {
			out[f] = v
		}
	}
	return out
}

// paged reads page and page_size, of which pages begin at 1.
func (k *call) paged() (page, size int, err error) {
	page, size = 1, pageSize
	for name, v := range map[string]*int{"page": &page, "page_size": &size} {
		s := k.r.URL.Query().Get(name)
		if s == "" {
			continue
		}
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > 1_000_000 {
			return 0, 0, bad("%s: %.40q: want 1 to 1000000", name, s)
		}
		*v = n
	}
	return page, min(size, serve.MaxPage), nil
}

// pages answers with a page of some that are count in all.
func (k *call) pages(page, size, count int, results []map[string]any) any {
	link := func(n int, there bool) any {
		if !there {
			return nil
		}
		q := k.r.URL.Query()
		q.Set("page", strconv.Itoa(n))
		q.Set("page_size", strconv.Itoa(size))
		return "http://" + k.r.Host + Prefix + k.r.URL.Path + "/?" + q.Encode()
	}
	return map[string]any{"count": count, "next": link(page+1, page*size < count), "previous": link(page-1, page > 1), "results": results}
}

func (k *call) list() (any, error) {
	page, size, err := k.paged()
	if err != nil {
		return nil, err
	}
	var fields []string
	o, err := k.takeOwner()
	if err == nil {
		err = k.take("fields", &fields)
	}
	var f filter.Filter
	if err == nil {
		f, err = k.filter(o)
	}
	if err == nil {
		err = k.ended("output_format", "version", "api_version", "org_id", "project_id", "source")
	}
	if err != nil {
		return nil, err
	}
	owners, err := k.c.Owners(k.r.Context(), f)
	if err != nil {
		return nil, err
	}
	count := 0
	for _, o := range owners {
		count += o.Memories
	}
	results := []map[string]any{}
	if (page-1)*size < count {
		got, err := k.c.List(k.r.Context(), serve.ListQuery{Filters: f, Limit: size, Skip: (page - 1) * size})
		if err != nil {
			return nil, err
		}
		for i := range got.Memories {
			results = append(results, only(entry(&got.Memories[i]), fields))
		}
	}
	return k.pages(page, size, count, results), nil
}

// listOf is the self-hosted server's list, by owner.
func (k *call) listOf() (any, error) {
	f, err := k.filter(queryOwner(k.r.URL.Query()))
	if err != nil {
		return nil, err
	}
	got, err := k.c.List(k.r.Context(), serve.ListQuery{Filters: f, Limit: pageSize})
	if err != nil {
		return nil, err
	}
	results := []map[string]any{}
	for i := range got.Memories {
		results = append(results, entry(&got.Memories[i]))
	}
	return map[string]any{"results": results}, nil
}

func (k *call) id() string { return idOf(k.r.PathValue("id")) }

func (k *call) get() (any, error) {
	m, err := k.c.Get(k.r.Context(), k.id())
	if err != nil {
		return nil, err
	}
	return entry(&m), nil
}

func (k *call) update() (any, error) {
	var p serve.UpdateRequest
	var data *string // as older self-hosted servers call it
	var metadata map[string]json.RawMessage
	if err := errors.Join(k.take("text", &p.Text), k.take("data", &data), k.take("metadata", &metadata), k.ended("org_id", "project_id", "source")); err != nil {
		return nil, err
	}
	if p.Text == nil {
		p.Text = data
	}
	if p.Text == nil && metadata == nil {
		return nil, bad("text: want text or metadata")
	}
	if metadata != nil {
		was, err := k.c.Get(k.r.Context(), k.id())
		if err != nil {
			return nil, err
		}
		to, err := metadataOf(metadata, was.Metadata[appKey])
		if err != nil {
			return nil, err
		}
		if to == nil {
			to = memory.Metadata{}
		}
		p.Metadata = &to
	}
	m, err := k.c.Update(k.r.Context(), k.id(), p)
	if err != nil {
		return nil, err
	}
	return entry(&m), nil
}

func (k *call) delete() (any, error) {
	if linked := k.r.URL.Query().Get("delete_linked"); linked != "" && linked != "false" {
		return nil, bad("delete_linked: Locket erases one memory, and what was made of it alone")
	}
	if _, err := k.c.Delete(k.r.Context(), k.id()); err != nil {
		return nil, err
	}
	return map[string]string{"message": "Memory deleted successfully!"}, nil
}

func (k *call) changes() ([]map[string]any, error) {
	m, err := k.c.Get(k.r.Context(), k.id())
	if err != nil {
		return nil, err
	}
	list, err := k.c.History(k.r.Context(), k.id())
	if err != nil {
		return nil, err
	}
	out := []map[string]any{}
	for _, c := range list {
		out = append(out, map[string]any{"id": uuid(numbered(m.ID, c.Seq)), "memory_id": uuid(m.ID), "input": []any{}, "old_memory": orNull(c.Old), "new_memory": orNull(c.New),
			"user_id": orNull(m.Owner.User), "event": string(c.Verdict), "metadata": given(m.Metadata), "created_at": stamp(c.At), "updated_at": stamp(c.At)})
	}
	return out, nil
}

// numbered gives each change of a memory an id of its own.
func numbered(id memory.ID, n uint64) memory.ID {
	for i := range 8 {
		id[15-i] ^= byte(n >> (8 * i))
	}
	return id
}

func (k *call) history() (any, error) { return k.changes() }

func (k *call) historyOf() (any, error) {
	list, err := k.changes()
	return map[string]any{"results": list}, err
}

func (k *call) deleteAll() (any, error) {
	o := queryOwner(k.r.URL.Query())
	if o == (owner{}) {
		return nil, bad("name a user_id, an agent_id, an app_id or a run_id: all memories are for the wearer to erase")
	}
	return k.erase(o)
}

// erase erases all that is an owner's, page by page. What is gone is in no list,
// so that each page begins anew.
func (k *call) erase(o owner) (any, error) {
	f, err := k.filter(o)
	if err != nil {
		return nil, err
	}
	for n := 0; ; {
		page, err := k.c.List(k.r.Context(), serve.ListQuery{Filters: f, Limit: pageSize})
		if err != nil {
			return nil, err
		}
		if len(page.Memories) == 0 {
			return map[string]string{"message": "Memories deleted successfully!"}, nil
		}
		for i := range page.Memories {
			if _, err := k.c.Delete(k.r.Context(), page.Memories[i].ID.String()); err != nil {
				return nil, fmt.Errorf("%w (after %d memories)", err, n)
			}
			n++
		}
	}
}

func (k *call) entities() (any, error) {
	page, size, err := k.paged()
	if err != nil {
		return nil, err
	}
	list, err := k.c.Owners(k.r.Context(), filter.Filter{})
	if err != nil {
		return nil, err
	}
	by := map[[2]string]map[string]any{}
	for _, o := range list {
		for kind, name := range map[string]string{"user": o.User, "agent": o.Agent, "run": o.Run} {
			if name == "" {
				continue
			}
			e := by[[2]string{kind, name}]
			if e == nil {
				e = map[string]any{"id": kind + ":" + name, "name": name, "type": kind, "total_memories": 0, "created_at": stamp(o.First), "updated_at": stamp(o.Last)}
				by[[2]string{kind, name}] = e
			}
			e["total_memories"] = e["total_memories"].(int) + o.Memories
			e["created_at"], e["updated_at"] = min(e["created_at"].(string), stamp(o.First)), max(e["updated_at"].(string), stamp(o.Last))
		}
	}
	all := []map[string]any{}
	for _, e := range by {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b map[string]any) int { return strings.Compare(a["id"].(string), b["id"].(string)) })
	from := min((page-1)*size, len(all))
	return k.pages(page, size, len(all), all[from:min(from+size, len(all))]), nil
}

func (k *call) deleteEntity() (any, error) {
	name := k.r.PathValue("id")
	switch k.r.PathValue("type") {
	case "user":
		return k.erase(owner{user: name})
	case "agent":
		return k.erase(owner{agent: name})
	case "app":
		return k.erase(owner{app: name})
	case "run":
		return k.erase(owner{run: name})
	}
	return nil, bad("type: %.40q: want user, agent, app or run", k.r.PathValue("type"))
}

type batchOne struct {
	ID   string  `json:"memory_id"`
	Text *string `json:"text"`
}

// batch reads the memories of a batch, and does it through the API's own.
func (k *call) batch(did string, op func(*batchOne) (serve.Operation, error)) (any, error) {
	var list []batchOne
	if err := errors.Join(k.take("memories", &list), k.ended("org_id", "project_id", "source")); err != nil {
		return nil, err
	}
	ops := make([]serve.Operation, len(list))
	for i := range list {
		var err error
		if ops[i], err = op(&list[i]); err != nil {
			return nil, bad("memories[%d]: %v", i, err)
		}
	}
	res, err := k.c.Batch(k.r.Context(), ops)
	if err != nil {
		return nil, err
	}
	for i, r := range res.Results {
		if r.Problem != nil {
			return nil, fmt.Errorf("memories[%d]: %w (%d of %d were done)", i, r.Problem, len(ops)-res.Failed, len(ops))
		}
	}
	return map[string]string{"message": fmt.Sprintf("Successfully %s %d memories", did, len(ops))}, nil
}

func (k *call) batchUpdate() (any, error) {
	return k.batch("updated", func(b *batchOne) (serve.Operation, error) {
		if b.Text == nil {
			return serve.Operation{}, errors.New("text: wanted")
		}
		return serve.Operation{ID: idOf(b.ID), Update: &serve.UpdateRequest{Text: b.Text}}, nil
	})
}

func (k *call) batchDelete() (any, error) {
	return k.batch("deleted", func(b *batchOne) (serve.Operation, error) {
		return serve.Operation{ID: idOf(b.ID), Delete: true}, nil
	})
}
