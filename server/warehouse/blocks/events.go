package blocks

import "github.com/svc-observability/svc/server/warehouse/native"

// SessionEvents are the columns of the table session_events.
type SessionEvents struct {
	native.Block `table:"session_events"`

	OrgID              *native.LowCardinality `ch:"OrgId"`
	SessionID          *native.String         `ch:"SessionId"`
	Timestamp          *native.Int64          `ch:"Timestamp" type:"DateTime64(9, 'UTC')"`
	Seq                *native.UInt32         `ch:"Seq"`
	Type               *native.LowCardinality `ch:"Type"`
	URL                *native.String         `ch:"Url"`
	TraceID            *native.String         `ch:"TraceId"`
	Level              *native.LowCardinality `ch:"Level"`
	Message            *native.String         `ch:"Message"`
	TargetSelector     *native.String         `ch:"TargetSelector"`
	TargetText         *native.String         `ch:"TargetText"`
	NetMethod          *native.LowCardinality `ch:"NetMethod"`
	NetURL             *native.String         `ch:"NetUrl"`
	NetStatus          *native.UInt16         `ch:"NetStatus"`
	NetDurationMs      *native.UInt32         `ch:"NetDurationMs"`
	ErrorStack         *native.String         `ch:"ErrorStack"`
	VisitorID          *native.String         `ch:"VisitorId"`
	UserID             *native.String         `ch:"UserId"`
	GroupID            *native.String         `ch:"GroupId"`
	Attributes         *native.Map            `ch:"Attributes"`
	ResourceAttributes *native.Map            `ch:"ResourceAttributes"`
}

// ProductEvents are the columns of the table product_events.
type ProductEvents struct {
	native.Block `table:"product_events"`

	OrgID              *native.LowCardinality `ch:"OrgId"`
	Name               *native.LowCardinality `ch:"Name"`
	Timestamp          *native.Int64          `ch:"Timestamp" type:"DateTime64(9, 'UTC')"`
	Kind               *native.LowCardinality `ch:"Kind"`
	Source             *native.LowCardinality `ch:"Source"`
	VisitorID          *native.String         `ch:"VisitorId"`
	UserID             *native.String         `ch:"UserId"`
	GroupID            *native.String         `ch:"GroupId"`
	SessionID          *native.String         `ch:"SessionId"`
	ServiceName        *native.LowCardinality `ch:"ServiceName"`
	URL                *native.String         `ch:"Url"`
	Host               *native.LowCardinality `ch:"Host"`
	PagePath           *native.String         `ch:"PagePath"`
	Attributes         *native.Map            `ch:"Attributes"`
	ResourceAttributes *native.Map            `ch:"ResourceAttributes"`
}
