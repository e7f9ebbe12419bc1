package main

import (
	"strings"
	"testing"
)

// An operator sees the state of the vouchers, and revokes the unused ones.
func TestVouchers(t *testing.T) {
	args, key := marketArgs(t)
	p := start(t, args...)
	defer stop(t, p)
	operate := func(want int, says string, more ...string) {
		t.Helper()
		code, out, errs := say(t, append([]string{"market", "vouchers", "--at", p.url, "--market-key", key}, more...)...)
		if code != want || !strings.Contains(out+errs, says) {
			t.Errorf("%q: %d, want %d and %q: %s%s", more, code, want, says, out, errs)
		}
	}
	operate(exitDone, "")
	operate(exitUsage, "--batch NAME is missing", "--each", "5.00 EUR")
	operate(exitUsage, "--batch NAME is missing", "--revoke")
	operate(exitUsage, "--each AMOUNT, such as", "--batch", "may")
	operate(exitUsage, "--revoke can be combined only with --batch", "--batch", "may", "--each", "5.00 EUR", "--revoke")
	operate(exitDone, "-", "--batch", "may", "--each", "5.00 EUR", "--count", "2")
	operate(exitDone, "may                   2 issued, 0 used, 0 revoked, 0 lapsed; 10.00 EUR open, until 20")
	operate(exitFailed, "no such batch of vouchers", "--batch", "june", "--revoke")
	operate(exitDone, "2 revoked.", "--batch", "may", "--revoke")
	operate(exitDone, `{"revoked":0}`, "--batch", "may", "--revoke", "--json")
	operate(exitDone, `"issued":2,"used":0,"revoked":2,"lapsed":0,"open":0,"currency":"EUR"`, "--json")
}
