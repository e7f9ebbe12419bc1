package mem0

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"strconv"
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
	maxListed   = 1000 // maximum length of the self-hosted server's list, as in Mem0
)

// filter parses the filters of a request, and adds its owner's.
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
	beside, err := k.takeBeside()
	if err != nil {
		return f, err
	}
	parts = append(parts, beside...)
	if len(parts) == 0 {
		return f, nil
	}
	for i := range parts {
		if parts[i], err = translate("filters", parts[i], 0); err != nil {
			return f, err
		}
	}
	b, err := json.Marshal(map[string]any{"AND": parts})
	if err != nil {
		return f, bad("filters: %v", err)
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return f, bad("filters: %v", err)
	}
	return f, nil
}

// takeBeside parses the criteria of a search or a list that are outside of its
// filters.
func (k *call) takeBeside() (parts []any, err error) {
	var categories []string
	var from, to string
	var expired bool
	if err := errors.Join(k.pop("categories", &categories), k.pop("start_date", &from), k.pop("end_date", &to), k.pop("show_expired", &expired)); err != nil {
		return nil, err
	}
	if expired {
		return nil, bad("show_expired: not supported: Locket shows only what is true now")
	}
	if len(categories) > 0 {
		parts = append(parts, map[string]any{"categories": map[string]any{"in": categories}})
	}
	if from != "" {
		parts = append(parts, map[string]any{"created_at": map[string]any{"gte": from}})
	}
	if to != "" {
		until := map[string]any{"lte": to}
		if day, err := time.Parse(time.DateOnly, to); err == nil && to < "9999-12-31" { // until the end of that day, in UTC
			until = map[string]any{"lt": day.AddDate(0, 0, 1).Format(time.DateOnly)}
		}
		parts = append(parts, map[string]any{"created_at": until})
	}
	return parts, nil
}

func (k *call) search() (any, error) {
	q := serve.SearchRequest{Only: serve.OnlyMemories}
	var limit int
	var threshold *float64
	var fields []string
	o, err := k.takeOwner()
	if err == nil {
		err = errors.Join(k.pop("query", &q.Query), k.pop("top_k", &q.K), k.pop("limit", &limit), k.pop("threshold", &threshold), k.pop("fields", &fields))
	}
	if err == nil {
		q.Filters, err = k.filter(o)
	}
	if err == nil {
		err = k.ended("output_format", "version", "api_version", "rerank", "latest_only", "org_id", "project_id", "source", "keyword_search", "filter_memories", "explain")
	}
	if err != nil {
		return nil, err
	}
	q.K = cmp.Or(q.K, limit)
	if q.K < 0 || q.K > serve.MaxHits {
		return nil, bad("top_k: %d, want 1 to %d", q.K, serve.MaxHits)
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

// only keeps the id and the requested fields.
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

// paged parses page and page_size. Pages begin at 1.
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

// pages answers with a page of results; count is the total number.
func (k *call) pages(page, size, count int, results []map[string]any) any {
	link := func(n int, there bool) any {
		if !there {
			return nil
		}
		q := k.r.URL.Query()
		q.Set("page", strconv.Itoa(n))
		q.Set("page_size", strconv.Itoa(size))
		scheme := "http://"
		if k.r.TLS != nil {
			scheme = "https://"
		}
		return scheme + k.r.Host + Prefix + k.r.URL.Path + "/?" + q.Encode()
	}
	previous := min(page-1, (count+size-1)/size) // if the page is beyond the last one, the last one
	return map[string]any{"count": count, "next": link(page+1, page*size < count), "previous": link(previous, previous > 0), "results": results}
}

func (k *call) list() (any, error) {
	page, size, err := k.paged()
	if err != nil {
		return nil, err
	}
	var fields []string
	o, err := k.takeOwner()
	if err == nil {
		err = k.pop("fields", &fields)
	}
	var f filter.Filter
	if err == nil {
		f, err = k.filter(o)
	}
	if err == nil {
		err = k.ended("output_format", "version", "api_version", "latest_only", "org_id", "project_id", "source")
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

// listOf handles the list of the self-hosted server, by owner.
func (k *call) listOf() (any, error) {
	o, err := k.queryOwner("top_k", "limit", "show_expired")
	if err != nil {
		return nil, err
	}
	if v := k.r.URL.Query().Get("show_expired"); v != "" && v != "false" && v != "False" && v != "0" {
		return nil, bad("show_expired: %.40q: not supported: Locket shows only what is true now", v)
	}
	size := pageSize
	if s := cmp.Or(k.r.URL.Query().Get("top_k"), k.r.URL.Query().Get("limit")); s != "" {
		if size, err = strconv.Atoi(s); err != nil || size < 1 || size > maxListed {
			return nil, bad("top_k: %.40q: want 1 to %d", s, maxListed)
		}
	}
	f, err := k.filter(o)
	if err == nil {
		err = k.ended("org_id", "project_id", "source")
	}
	if err != nil {
		return nil, err
	}
	results, cursor := []map[string]any{}, ""
	for more := true; more && len(results) < size; { // with a cursor, because memories may be added and removed between two pages
		got, err := k.c.List(k.r.Context(), serve.ListQuery{Filters: f, Limit: min(size-len(results), serve.MaxPage), Cursor: cursor})
		if err != nil {
			return nil, err
		}
		for i := range got.Memories {
			results = append(results, entry(&got.Memories[i]))
		}
		cursor = got.Next
		more = cursor != ""
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
	var data *string // the name in older self-hosted servers
	var metadata map[string]json.RawMessage
	if err := errors.Join(k.pop("text", &p.Text), k.pop("data", &data), k.pop("metadata", &metadata), k.ended("org_id", "project_id", "source")); err != nil {
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
		return nil, bad("delete_linked: Locket erases one memory, and what was made only from it")
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
			"user_id": orNull(m.Owner.User), "event": string(c.Verdict), "metadata": originalMetadata(m.Metadata), "created_at": stamp(c.At), "updated_at": stamp(c.At)})
	}
	return out, nil
}

// numbered returns an id for a change of a memory.
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
