package trade

import (
	"fmt"
	"strconv"
	"strings"
)

// digits has the numbers of decimals of the currencies whose number is not two (ISO 4217).
var digits = map[string]int{"BIF": 0, "CLP": 0, "ISK": 0, "JPY": 0, "KRW": 0, "PYG": 0, "UGX": 0, "VND": 0, "XAF": 0, "XOF": 0, "XPF": 0,
	"BHD": 3, "IQD": 3, "JOD": 3, "KWD": 3, "LYD": 3, "OMR": 3, "TND": 3, "USDC": 6}

func digitsOf(code string) int {
	if n, ok := digits[code]; ok {
		return n
	}
	return 2
}

// Price formats an amount in minor units: "5.00 EUR".
func Price(minor uint64, code string) string {
	n := digitsOf(code)
	s := fmt.Sprintf("%0*d", n+1, minor)
	if n == 0 {
		return s + " " + code
	}
	return s[:len(s)-n] + "." + s[len(s)-n:] + " " + code
}

// ParsePrice parses "5.00 EUR", "5 EUR" or "5EUR", and returns minor units.
func ParsePrice(s string) (minor uint64, code string, err error) {
	bad := func(what string) (uint64, string, error) {
		return 0, "", fmt.Errorf("price %.40q: %w: %s", s, ErrForm, what)
	}
	at := strings.IndexFunc(s, func(r rune) bool { return r >= 'A' && r <= 'Z' })
	if at < 0 {
		return bad("want an amount and a currency, such as 5.00 EUR")
	}
	if code = s[at:]; !currency.MatchString(code) {
		return bad("want a currency of capital letters, such as EUR")
	}
	whole, part, _ := strings.Cut(strings.TrimSpace(s[:at]), ".")
	n := digitsOf(code)
	if len(part) > n {
		return bad(fmt.Sprintf("%s has %d digits after the point", code, n))
	}
	minor, err = strconv.ParseUint(whole+part+strings.Repeat("0", n-len(part)), 10, 64)
	if err != nil || minor == 0 || minor > MaxPrice {
		return bad(fmt.Sprintf("want more than zero, and at most %s", Price(MaxPrice, code)))
	}
	return minor, code, nil
}
