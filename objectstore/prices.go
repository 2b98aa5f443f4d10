package objectstore

import (
	"fmt"
	"strconv"
	"strings"
)

// Prices are what a store asks for a request of a kind, in dollars. DELETE is
// free on S3.
type Prices struct {
	Name string // of the table
	Put  float64
	Get  float64 // of a HEAD and of a miss, too
	List float64
}

// The price tables, of us-east-1 in 2026; other regions differ by some percent.
// S3 Express One Zone charges for the bytes of a request too, $0.0032 per GB
// written and $0.0006 read, which is not counted here.
var (
	Standard = Prices{Name: "S3 Standard", Put: 5e-6, Get: 4e-7, List: 5e-6}
	Express  = Prices{Name: "S3 Express One Zone", Put: 1.13e-6, Get: 3e-8, List: 1.13e-6}
)

// ParsePrices reads "standard", "express", or a table of one's own such as
// "put=5e-6,get=4e-7,list=5e-6", in dollars per request; what it leaves out is
// free.
func ParsePrices(s string) (Prices, error) {
	switch s {
	case "standard":
		return Standard, nil
	case "express":
		return Express, nil
	}
	p := Prices{Name: s}
	for item := range strings.SplitSeq(s, ",") {
		name, text, _ := strings.Cut(item, "=")
		to, known := map[string]*float64{"put": &p.Put, "get": &p.Get, "list": &p.List}[name]
		v, err := strconv.ParseFloat(text, 64)
		if !known || err != nil || !(v >= 0 && v <= 1) {
			return p, fmt.Errorf("%q: write standard, express, or dollars per request as put=5e-6,get=4e-7,list=5e-6", s)
		}
		*to = v
	}
	return p, nil
}

// Of is what requests cost, in dollars.
func (p Prices) Of(c Counts) float64 {
	return p.Put*float64(c.Put+c.PutIfAbsent) + p.Get*float64(c.Get+c.Miss+c.Head) + p.List*float64(c.List)
}
