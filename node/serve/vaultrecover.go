package serve

import (
	"context"
	"net/http"
)

// VaultRecoverer opens what other devices have put into the vault.
type VaultRecoverer interface {
	// RecoverVault opens, with the recovery phrase, the secrets that only other
	// devices can open, and seals them for this one, too: ErrVaultLocked.
	RecoverVault(ctx context.Context, phrase Secret) (VaultRecovered, error)
}

// RecoverVaultRequest goes with POST /v1/vault/recover.
type RecoverVaultRequest struct {
	Phrase Secret `json:"phrase"`
}

// VaultRecovered counts entries of the vault.
type VaultRecovered struct {
	Recovered int `json:"recovered"` // this device opens them now
	Here      int `json:"here"`      // it could before
	Lost      int `json:"lost"`      // sealed to a device alone, before there was recovery for them
}

func (h *handler) recoverVault(r *http.Request) (any, error) {
	var req RecoverVaultRequest
	if err := decodeBody(r, &req, false); err != nil {
		return nil, err
	}
	h.keys.Lock()
	defer h.keys.Unlock()
	return h.Service.RecoverVault(r.Context(), req.Phrase)
}

// RecoverVault opens what other devices have put into the vault.
func (c *Client) RecoverVault(ctx context.Context, phrase Secret) (v VaultRecovered, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/vault/recover", nil, RecoverVaultRequest{phrase}, &v)
}
