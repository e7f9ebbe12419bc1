package ledger

import (
	"fmt"

	"golang.org/x/text/currency"
)

// MaxAmount is the largest amount of one transfer, in minor units: ten thousand
// milliards of euros. The tables hold balances to a thousand times that.
const MaxAmount = 1_000_000_000_000_000

// Currency is an ISO 4217 code, such as EUR, or USDC.
type Currency string

// tokens are currencies that ISO 4217 does not have, with their digits after the point.
var tokens = map[Currency]int{"USDC": 6}

// Digits returns how many digits the minor unit has after the point: 2 for EUR, 0 for JPY. An
// unknown currency is an error.
func (c Currency) Digits() (int, error) {
	if n, ok := tokens[c]; ok {
		return n, nil
	}
	u, err := currency.ParseISO(string(c))
	if err != nil || u.String() != string(c) {
		return 0, fmt.Errorf("%w: unknown currency %q", ErrAmount, c)
	}
	n, _ := currency.Standard.Rounding(u)
	return n, nil
}

// Money is an amount in minor units of one currency: {1250, "EUR"} is 12.50 €.
type Money struct {
	Minor    int64    `json:"minor"`
	Currency Currency `json:"currency"`
}

// String writes the amount with its point and currency: "12.50 EUR".
func (m Money) String() string {
	n, err := m.Currency.Digits()
	if err != nil || n == 0 {
		return fmt.Sprintf("%d %s", m.Minor, m.Currency)
	}
	sign, minor := "", m.Minor
	if minor < 0 {
		sign, minor = "-", -minor
	}
	s := fmt.Sprintf("%0*d", n+1, uint64(minor))
	return sign + s[:len(s)-n] + "." + s[len(s)-n:] + " " + string(m.Currency)
}

// positive returns an error unless the amount can be moved.
func (m Money) positive() error {
	if _, err := m.Currency.Digits(); err != nil {
		return err
	}
	if m.Minor < 1 || m.Minor > MaxAmount {
		return fmt.Errorf("%w: %d minor units: want 1 to %d", ErrAmount, m.Minor, int64(MaxAmount))
	}
	return nil
}
