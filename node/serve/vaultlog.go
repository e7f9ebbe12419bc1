package serve

import (
	"context"
	"net/http"
	"time"

	"github.com/locket-dev/locket/memory"
)

// VaultLogger tells the owner who looked into the vault.
type VaultLogger interface {
	// VaultLog gives the readings of secrets on this node, newest first, at
	// most limit. Those of an entry that was erased went with it.
	VaultLog(ctx context.Context, limit int) ([]VaultRead, error)
}

// VaultRead is one reading of a secret.
type VaultRead struct {
	At        time.Time     `json:"at"`
	ID        memory.ID     `json:"id"`
	Label     string        `json:"label"`
	EntryType string        `json:"entry_type"`
	By        memory.Source `json:"by"`
}

// VaultLogAnswer lists readings, newest first.
type VaultLogAnswer struct {
	Reads []VaultRead `json:"reads"`
}

func (h *handler) vaultLog(r *http.Request) (any, error) {
	p := readParams(r)
	limit := p.number("limit", DefaultPage, 1, MaxList)
	if p.err != nil {
		return nil, p.err
	}
	list, err := h.Service.VaultLog(r.Context(), int(limit))
	return VaultLogAnswer{notNil(list)}, err
}

// VaultLog gives the readings of secrets, newest first; 0: DefaultPage.
func (c *Client) VaultLog(ctx context.Context, limit int) ([]VaultRead, error) {
	var v VaultLogAnswer
	err := c.call(ctx, http.MethodGet, "/v1/vault/log", limitOf(limit), nil, &v)
	return v.Reads, err
}
