CREATE OR REPLACE VIEW ledger.usage AS
SELECT campaign, day::date AS day,
	model, spent_cost_usd, spent_tokens, spent_reported, spent_cells, effective_cost_usd, effective_tokens,
	effective_reported, effective_cells
FROM {usage};
COMMENT ON VIEW ledger.usage IS 'What each campaign used, by day and model. A measurement that several campaigns imported is in each of them.';
COMMENT ON COLUMN ledger.usage.campaign IS 'campaign id';
COMMENT ON COLUMN ledger.usage.day IS 'UTC day on which the measurements finished';
COMMENT ON COLUMN ledger.usage.model IS 'model that was measured';
COMMENT ON COLUMN ledger.usage.spent_cost_usd IS 'cost of all measurements (voided ones too) in US dollars, exactly; NULL when none of them reported one';
COMMENT ON COLUMN ledger.usage.spent_tokens IS 'tokens of all measurements (voided ones too); NULL when none of them reported any';
COMMENT ON COLUMN ledger.usage.spent_reported IS 'how many of all measurements (voided ones too) reported a cost';
COMMENT ON COLUMN ledger.usage.spent_cells IS 'number of all measurements (voided ones too)';
COMMENT ON COLUMN ledger.usage.effective_cost_usd IS 'cost of measurements that count (unvoided ones) in US dollars, exactly; NULL when none of them reported one';
COMMENT ON COLUMN ledger.usage.effective_tokens IS 'tokens of measurements that count (unvoided ones); NULL when none of them reported any';
COMMENT ON COLUMN ledger.usage.effective_reported IS 'how many of measurements that count (unvoided ones) reported a cost';
COMMENT ON COLUMN ledger.usage.effective_cells IS 'number of measurements that count (unvoided ones)';
