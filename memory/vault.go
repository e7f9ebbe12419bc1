package memory

import "strings"

// VaultFields are the fields of a secret. Sealed holds the secret, encrypted to the vault key; no
// field of a stored record has it in clear text.
type VaultFields struct {
	EntryType string `json:"entry_type"` // password, pin, card, key, iban, national_id
	Label     string `json:"label"`      // what it opens, never the secret
	Sealed    []byte `json:"sealed,omitempty"`
}

// SecretShown is the reason of the history entry that a vault memory gets each time its secret is
// read.
const SecretShown = "the secret was shown"

func (f *VaultFields) validate() error {
	if f == nil || len(f.Sealed) == 0 {
		return wrong("vault", "label and sealed value are needed")
	}
	if strings.TrimSpace(f.Label) == "" {
		return wrong("vault.label", "empty")
	}
	if err := checkText("fields.vault.label", f.Label, MaxText); err != nil {
		return err
	}
	return names(Vault, [2]string{"entry_type", f.EntryType})
}
