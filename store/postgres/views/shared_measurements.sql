CREATE OR REPLACE VIEW ledger.shared_measurements AS
SELECT measurement_key, campaign, import_key, ledger_index, void_index IS NOT NULL AS voided
FROM {imports}
WHERE measurement_key IN (SELECT measurement_key FROM {imports} GROUP BY measurement_key HAVING count(*) > 1);
COMMENT ON VIEW ledger.shared_measurements IS 'Imports whose measurement was imported by other campaigns too.';
COMMENT ON COLUMN ledger.shared_measurements.measurement_key IS 'the framework''s campaign / attempt / execution';
COMMENT ON COLUMN ledger.shared_measurements.campaign IS 'campaign id';
COMMENT ON COLUMN ledger.shared_measurements.import_key IS 'CI run / attempt / execution';
COMMENT ON COLUMN ledger.shared_measurements.ledger_index IS 'index of the decision that accepted it';
COMMENT ON COLUMN ledger.shared_measurements.voided IS 'whether the import was taken back';
