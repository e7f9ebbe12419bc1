package ledger

import (
	"fmt"
	"math/big"
	"strings"

	"golang.org/x/text/currency"
)

// MaxAmount is the largest amount of one transfer, in minor units: ten thousand
// milliards of euros. The tables hold balances to a thousand times that.
const MaxAmount = 1_000_000_000_000_000

// Currency is an ISO 4217 code, such as EUR, or USDC.
type Currency string

// tokens are the currencies that ISO 4217 does not have, and their digits behind
// the point.
var tokens = map[Currency]int{"USDC": 6}

// Digits is how many digits of a minor unit stand behind the point: 2 of EUR, 0
// of JPY. It is an error where there is no such currency.
func (c Currency) Digits() (int, error) {
	if n, ok := tokens[c]; ok {
		return n, nil
	}
	u, err := currency.ParseISO(string(c))
	if err != nil || u.String() != string(c) {
		return 0, fmt.Errorf("%w: there is no currency %q", ErrAmount, c)
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

// ParseMoney reads what [Money.String] writes; the digits behind the point may
// be left out, and fewer of them may stand there: "12.5 EUR".
func ParseMoney(s string) (Money, error) {
	number, code, _ := strings.Cut(s, " ")
	c := Currency(code)
	n, err := c.Digits()
	if err != nil {
		return Money{}, err
	}
	whole, part, point := strings.Cut(number, ".")
	digits := whole + part
	if whole == "" || point && part == "" || len(part) > n || len(digits) > 15 || strings.Trim(digits, "0123456789") != "" {
		return Money{}, fmt.Errorf("%w: %q: want a number with up to %d digits behind the point, such as %q", ErrAmount, number, n, Money{1250, c}.String())
	}
	m := Money{Currency: c}
	for _, d := range digits + strings.Repeat("0", n-len(part)) {
		if m.Minor = m.Minor*10 + int64(d-'0'); m.Minor > MaxAmount {
			return Money{}, fmt.Errorf("%w: %s is too much", ErrAmount, s)
		}
	}
	return m, nil
}

// Cut takes a fee of so many hundredths of a percent off m. It is rounded down,
// for the seller.
func Cut(m Money, basisPoints int64) (fee, rest Money) {
	fee = Money{muldiv(m.Minor, basisPoints, 10_000), m.Currency}
	return fee, Money{m.Minor - fee.Minor, m.Currency}
}

// Split divides m by weights, of which none is below zero and one is above. The
// parts add up to m: minor units that are left over go to the first weights
// above zero, one each.
func Split(m Money, weights []int64) ([]Money, error) {
	var total int64
	for _, w := range weights {
		if total += w; w < 0 || w > MaxAmount || total > MaxAmount {
			return nil, fmt.Errorf("%w: weight %d", ErrAmount, w)
		}
	}
	if total == 0 {
		return nil, fmt.Errorf("%w: no weight is above zero", ErrAmount)
	}
	parts, left := make([]Money, len(weights)), m.Minor
	for i, w := range weights {
		parts[i] = Money{muldiv(m.Minor, w, total), m.Currency}
		left -= parts[i].Minor
	}
	for i := 0; left > 0; i++ {
		if weights[i] > 0 {
			parts[i].Minor++
			left--
		}
	}
	return parts, nil
}

// muldiv is a*b/c, rounded down, where a*b may be more than 64 bits.
func muldiv(a, b, c int64) int64 {
	p := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
	return p.Div(p, big.NewInt(c)).Int64()
}

// positive says what is wrong with an amount that is to move.
func (m Money) positive() error {
	if _, err := m.Currency.Digits(); err != nil {
		return err
	}
	if m.Minor < 1 || m.Minor > MaxAmount {
		return fmt.Errorf("%w: %d minor units: want 1 to %d", ErrAmount, m.Minor, int64(MaxAmount))
	}
	return nil
}
