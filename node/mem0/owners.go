package mem0

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node/serve"
)

func (k *call) deleteAll() (any, error) {
	o, err := k.queryOwner()
	if err != nil {
		return nil, err
	}
	if o == (owner{}) {
		return nil, bad("name a user_id, an agent_id, an app_id or a run_id: only the wearer may erase all memories")
	}
	return k.erase(o)
}

// erase erases everything of an owner, as one order. Options that would have selected fewer
// memories, but are not supported, are refused.
func (k *call) erase(o owner) (any, error) {
	for name, v := range o.filters() {
		if v == "*" {
			return nil, bad("%s: * means each one there is, and only the wearer may erase all memories: name one", name)
		}
	}
	f, err := k.filter(o)
	if err == nil {
		err = k.ended("org_id", "project_id", "source")
	}
	if err == nil {
		_, err = k.c.Erase(k.r.Context(), f)
	}
	if err != nil {
		return nil, err
	}
	return map[string]string{"message": "Memories deleted successfully!"}, nil
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
	all := sorting.Sorted(maps.Values(by), func(a, b map[string]any) int { return strings.Compare(a["id"].(string), b["id"].(string)) })
	from := min((page-1)*size, len(all))
	return k.pages(page, size, len(all), all[from:min(from+size, len(all))]), nil
}

func (k *call) deleteEntity() (any, error) {
	beside, err := k.queryOwner()
	if err != nil {
		return nil, err
	}
	for name := range beside.filters() {
		return nil, bad("%s: an entity is erased with all that is its own; see %sclients.md", name, serve.Docs)
	}
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

// batch parses the memories of a batch, and passes them to the API's own batch.
func (k *call) batch(did string, op func(*batchOne) (serve.Operation, error)) (any, error) {
	var list []batchOne
	if err := errors.Join(k.pop("memories", &list), k.ended("org_id", "project_id", "source")); err != nil {
		return nil, err
	}
	if n := len(list); n == 0 || n > serve.MaxBatch {
		return nil, bad("memories: %d, want 1 to %d", n, serve.MaxBatch)
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
			return serve.Operation{}, errors.New("text: missing")
		}
		return serve.Operation{ID: idOf(b.ID), Update: &serve.UpdateRequest{Text: b.Text}}, nil
	})
}

func (k *call) batchDelete() (any, error) {
	return k.batch("deleted", func(b *batchOne) (serve.Operation, error) {
		return serve.Operation{ID: idOf(b.ID), Delete: true}, nil
	})
}
