package rawlog

import (
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"queuebench/queue"
)

// columnName turns CPUNs into cpu_ns.
func columnName(field string) string {
	r := []rune(field)
	var b strings.Builder
	for i, c := range r {
		if unicode.IsUpper(c) && i > 0 && (unicode.IsLower(r[i-1]) || i+1 < len(r) && unicode.IsLower(r[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

func TestRowTypesAreTheColumnsOfTheirTables(t *testing.T) {
	types := map[string]Type{"int64": Int64, "int32": Int32, "string": String, "Status": String}
	for row, table := range map[any]*Table{
		SentRow{}: &Sent, ReceivedRow{}: &Received, SecondRow{}: &Seconds, BatchRow{}: &Batches, EventRow{}: &Events,
	} {
		rt := reflect.TypeOf(row)
		if rt.NumField() != len(table.Columns) {
			t.Errorf("%s has %d fields, table %s has %d columns", rt.Name(), rt.NumField(), table.Name, len(table.Columns))
			continue
		}
		for i, c := range table.Columns {
			f := rt.Field(i)
			if columnName(f.Name) != c.Name {
				t.Errorf("field %d of %s is %s, column is %s", i, rt.Name(), f.Name, c.Name)
			}
			if typ, ok := types[f.Type.Name()]; !ok || typ != c.Type {
				t.Errorf("field %s of %s is %s, column is of type %d", f.Name, rt.Name(), f.Type.Name(), c.Type)
			}
		}
	}
}

func TestNewRowsAreNullWhereTheyMayBe(t *testing.T) {
	check := func(row any, table *Table) {
		v := reflect.ValueOf(row)
		for i, c := range table.Columns {
			if c.Optional && c.Type == Int64 && c.Name != "offset" && v.Field(i).Int() != Null {
				t.Errorf("%s.%s of a new row is %d, not null", table.Name, c.Name, v.Field(i).Int())
			}
		}
	}
	check(NewSecondRow("a", 1), &Seconds)
	check(NewBatchRow("a", 1, queue.Trace{}), &Batches)
}

func TestBatchRowTakesEachStageToItsColumn(t *testing.T) {
	for s := range queue.NumStages {
		var trace queue.Trace
		trace.Set(s, 7*time.Millisecond)
		v := reflect.ValueOf(NewBatchRow("a", 1, trace))
		for i, c := range Batches.Columns {
			if !strings.HasSuffix(c.Name, "_ns") || !c.Optional {
				continue
			}
			want := Null
			if c.Name == s.String()+"_ns" {
				want = 7_000_000
			}
			if got := v.Field(i).Int(); got != want {
				t.Errorf("stage %s: column %s is %d, want %d", s, c.Name, got, want)
			}
		}
	}
}

func TestStatusNames(t *testing.T) {
	for s := range numStatus {
		if got, ok := StatusOf(s.String()); !ok || got != s {
			t.Errorf("StatusOf(%q) = %v, %v", s, got, ok)
		}
	}
	if _, ok := StatusOf("delivered"); ok {
		t.Error("StatusOf accepts a name that is none")
	}
	if numStatus.String() != "invalid" {
		t.Error("an invalid status has a name")
	}
}
